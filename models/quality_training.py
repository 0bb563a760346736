"""Training of the head of the page-quality model, on texts that are pooled already.

Several small heads are trained from different seeds and averaged. Averaging the logits of heads with one
hidden layer is the same as one head with all their hidden units, so the graph does not show it.

The heads are not shown the length of the text. Length is the strongest signal within one site, and heads that
see it lean on it so much that they fail on another site. It is added with a fixed weight instead.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional

from quality_evaluation import area
from quality_network import QualityNetwork

BATCH = 256
# Positives weigh as much as all negatives together, but none more than this.
LARGEST_WEIGHT = 10.0
PEAK_RATE = 1e-3
WEIGHT_DECAY = 0.1
HIDDEN_DROPOUT = 0.3
FEATURE_DROPOUT = 0.1
# A score spread over more than this many logits says no more; keeps ln sigmoid away from its ends.
LARGEST_SLOPE = 3.0


@dataclass
class Pages:
    """What is known of pages: pooled features, ln(1 + tokens), labels and the soft target."""

    pooled: Tensor
    lengths: Tensor
    labels: Tensor
    soft: Tensor

    def part(self, chosen: numpy.ndarray) -> "Pages":
        """The pages where `chosen` is true."""
        kept = torch.from_numpy(numpy.flatnonzero(chosen))
        return Pages(self.pooled[kept], self.lengths[kept], self.labels[kept], self.soft[kept])


@dataclass
class Recipe:
    """How heads are trained."""

    members: int = 6
    epochs: int = 12
    junk_share: float = 0.3
    soft_weight: float = 1.0
    # Of the final logit, what the soft target's output adds to that of the labels.
    soft_blend: float = 2.0
    # What one standard deviation of ln length adds, in standard deviations of the content's logit.
    length_weight: float = 0.4
    seed: int = 1

    @property
    def mix(self) -> Tensor:
        """What the two outputs of a head count."""
        return torch.tensor([1.0, self.soft_blend])


class Member(nn.Module):
    """One head with two outputs: the logit of "relevant", and the soft target."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.inner = nn.Linear(features, hidden)
        self.outer = nn.Linear(hidden, 2)

    def forward(self, x: Tensor) -> Tensor:
        """[batch, 2]."""
        x = functional.dropout(x, FEATURE_DROPOUT, self.training)
        hidden = functional.dropout(functional.gelu(self.inner(x)), HIDDEN_DROPOUT, self.training)
        return self.outer(hidden)


def set_scales(network: QualityNetwork, pages: Pages) -> None:
    """Takes means and standard deviations of the features from the training pages."""
    network.centre.copy_(pages.pooled.mean(0))
    network.scale.copy_(1 / (pages.pooled.std(0) + 1e-6))
    network.length_line[0] = pages.lengths.mean()
    network.length_line[1] = 1 / (pages.lengths.std() + 1e-6)


def train_heads(
    network: QualityNetwork,
    pages: Pages,
    junk: Pages,
    recipe: Recipe,
    validation: Pages | None = None,
    best_epochs: list[int] | None = None,
    report: Callable[[str], None] = print,
) -> list[int]:
    """Trains the members, puts their average into `network`, and returns the epochs each was trained for.

    With `validation`, a member is that of the epoch with the best AUC there; without it, it is trained for
    its number in `best_epochs`.
    """
    members, epochs = [], []
    for number in range(recipe.members):
        limit = best_epochs[number] if best_epochs else recipe.epochs
        member, best = _train_member(network, pages, junk, recipe, number, validation, limit)
        report(f"head {number + 1}: {best} epochs")
        members.append(member)
        epochs.append(best)
    _merge(network, members, recipe)
    with torch.no_grad():
        network.length_line[2] = recipe.length_weight * network.content(pages.pooled).std()
    return epochs


def _train_member(
    network: QualityNetwork,
    pages: Pages,
    junk: Pages,
    recipe: Recipe,
    number: int,
    validation: Pages | None,
    limit: int,
) -> tuple[Member, int]:
    torch.manual_seed(recipe.seed * 1000 + number)
    inputs, junk_inputs = (network.standardised(one.pooled) for one in (pages, junk))
    member = Member(inputs.shape[1], network.shape.hidden // recipe.members)
    optimizer = torch.optim.AdamW(member.parameters(), lr=PEAK_RATE, weight_decay=WEIGHT_DECAY)
    batch = min(BATCH, len(inputs))
    steps = len(inputs) // batch
    # Always planned for all epochs, so that stopping early leaves the rates of the others as they were.
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_RATE, total_steps=recipe.epochs * steps, pct_start=0.1
    )
    weight = float(min(LARGEST_WEIGHT, 0.5 / pages.labels.mean()))
    soft = (pages.soft - pages.soft.mean()) / (pages.soft.std() + 1e-6)
    junk_count = int(recipe.junk_share * batch) if len(junk_inputs) else 0
    best, best_epoch, kept = -1.0, 0, None
    for epoch in range(1, limit + 1):
        member.train()
        order = torch.randperm(len(inputs))
        for start in range(0, steps * batch, batch):
            chosen = order[start : start + batch]
            drawn = torch.randint(len(junk_inputs), (junk_count,)) if junk_count else chosen[:0]
            outputs = member(torch.cat([inputs[chosen], junk_inputs[drawn] if junk_count else inputs[:0]]))
            labels = torch.cat([pages.labels[chosen], torch.zeros(junk_count)])
            weights = torch.where(labels > 0, weight, 1.0)
            loss = functional.binary_cross_entropy_with_logits(outputs[:, 0], labels, weights)
            loss = loss + recipe.soft_weight * functional.mse_loss(outputs[:batch, 1], soft[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if validation is not None:
            auc = _auc(member, network.standardised(validation.pooled), validation.labels, recipe)
            if auc > best:
                best, best_epoch = auc, epoch
                kept = {name: value.clone() for name, value in member.state_dict().items()}
    if kept is not None:
        member.load_state_dict(kept)
    return member.eval(), best_epoch or limit


def _auc(member: Member, inputs: Tensor, labels: Tensor, recipe: Recipe) -> float:
    """Of the mix of both outputs, as it will be used."""
    member.eval()
    with torch.no_grad():
        return area(labels.numpy() > 0, (member(inputs) @ recipe.mix).numpy()).auc


def _merge(network: QualityNetwork, members: list[Member], recipe: Recipe) -> None:
    """One head with all hidden units: the mean over the members of logit + blend * soft output."""
    network.head[0].weight.data = torch.cat([member.inner.weight.detach() for member in members])
    network.head[0].bias.data = torch.cat([member.inner.bias.detach() for member in members])
    mix = recipe.mix / len(members)
    network.out.weight.data = torch.cat([mix @ member.outer.weight.detach() for member in members])[None]
    network.out.bias.data = sum(mix @ member.outer.bias.detach() for member in members)[None]


def logits(network: QualityNetwork, pages: Pages) -> numpy.ndarray:
    """The logit of each page, in float64."""
    with torch.no_grad():
        found = network.content(pages.pooled) + network.length_term(pages.lengths)
    return found[:, 0].double().numpy()


def calibration(scores: numpy.ndarray, labels: numpy.ndarray) -> tuple[float, float]:
    """Slope and offset that make the logits probabilities, were half of the pages relevant.

    Logistic regression on one number, with the two classes weighing the same, by Newton's method.
    """
    weights = numpy.where(labels, 0.5 / max(labels.sum(), 1), 0.5 / max((~labels).sum(), 1))
    columns = numpy.stack([scores - scores.mean(), numpy.ones(len(scores))], 1)
    found = numpy.zeros(2)
    for _ in range(50):
        chance = 1 / (1 + numpy.exp(-columns @ found))
        slope = columns.T @ (weights * (labels - chance)) - 1e-3 * found * [1, 0]
        bend = (columns * (weights * chance * (1 - chance))[:, None]).T @ columns + 1e-3 * numpy.diag([1, 0])
        found = found + numpy.linalg.solve(bend + 1e-9 * numpy.eye(2), slope)
    slope = float(numpy.clip(found[0], 1e-3, LARGEST_SLOPE))
    return slope, float(found[1] - slope * scores.mean())


def apply_calibration(network: QualityNetwork, slope: float, offset: float) -> None:
    """Folds slope and offset into what makes the logits."""
    network.out.weight.data *= slope
    network.out.bias.data = network.out.bias.data * slope + offset
    network.length_line[2] *= slope
