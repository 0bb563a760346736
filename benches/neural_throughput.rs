//! How many texts a second a quality model scores, tokenising included, two threads, 256 tokens each.
//!
//! `cargo bench --bench neural_throughput -- [MODEL_DIRECTORY [LIBRARY [DEVICE]]]`: by rten and, where a
//! library of ONNX Runtime is named, by that, on the processor or on a device such as `cuda`; on a device
//! 4,096 texts a call in place of 64, tokenised in as many threads as there are cores. Without a directory it is the bundled model or, until
//! there is one, a small one of the tests. Each line can be set beside what
//! `models/bench_onnxruntime.py` prints for the same directory. On a loaded machine the time of the
//! processor tells more than that of the clock: `cpu_ms_per_text`. `--texts` in place of a library
//! prints the texts, a line each, for that script. Asserts nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tokenizers::Tokenizer;

use prospect::neural::{self, Device, ModelSource, QualityModel, Runtime};

const THREADS: usize = 2;
const RUNS: usize = 3;
const RUN: Duration = Duration::from_secs(2);
/// Texts of one call.
const CALL: usize = 64;
/// Of a text, special ones left out.
const TOKENS: usize = 254;
/// `/proc/self/stat` counts in these.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let directory = arguments.next().filter(|argument| !argument.is_empty());
    let directory = directory.map(PathBuf::from);
    let library = arguments.next().map(PathBuf::from);
    if library.as_deref() == Some(Path::new("--texts")) {
        let texts = texts(&tokenizer(&source(directory.as_deref())));
        return texts.iter().for_each(|text| println!("{text}"));
    }
    let device = arguments.next().unwrap_or_else(|| Device::Cpu.to_string());
    let is_second_process = arguments.next().is_some();
    let model = source(directory.as_deref());
    let Some(library) = library else { return measure(&model, None, Device::Cpu) };
    if is_second_process {
        return measure(&model, Some(library), device.parse().expect("a device"));
    }
    measure(&model, None, Device::Cpu);
    // A process has one runtime.
    let own = std::env::current_exe().expect("own path");
    let directory = directory.unwrap_or_default();
    let status = Command::new(own).arg(directory).arg(library).args([&device, "second"]).status();
    assert!(status.expect("own program").success());
}

fn source(directory: Option<&Path>) -> ModelSource {
    match directory {
        Some(directory) => ModelSource::Directory(directory.to_owned()),
        None => neural::bundled().unwrap_or_else(|| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            ModelSource::Directory(root.join("tests/models/classifier-two-labels"))
        }),
    }
}

fn tokenizer(source: &ModelSource) -> Tokenizer {
    let read = match source {
        ModelSource::Directory(directory) => std::fs::read(directory.join("tokenizer.json")),
        ModelSource::Files { tokenizer, .. } => Ok(tokenizer.to_vec()),
    };
    let mut tokenizer = Tokenizer::from_bytes(read.expect("tokenizer.json")).expect("a tokenizer");
    tokenizer.with_truncation(None).expect("no truncation");
    tokenizer
}

fn measure(source: &ModelSource, library: Option<PathBuf>, device: Device) {
    let runtime = if library.is_some() { "onnxruntime" } else { "rten" };
    let threads = match device {
        Device::Cpu => THREADS,
        _ => std::thread::available_parallelism().map_or(THREADS, usize::from),
    };
    let asked = Runtime { library, threads, device };
    let start = Instant::now();
    let model = neural::load_quality(source, &asked).expect("model");
    let load = start.elapsed();
    let texts = texts(&tokenizer(source));
    let call = if device == Device::Cpu { CALL } else { CALL * 64 };
    let texts: Vec<&str> = texts.iter().map(String::as_str).cycle().take(call).collect();
    // Sessions are made when they are first needed.
    model.score(&texts).expect("scores");
    let (mut per_second, mut cpu_ms) = (0.0_f64, f64::INFINITY);
    for _ in 0..RUNS {
        let (texts_per_second, cpu_ms_per_text) = run(&*model, &texts);
        per_second = per_second.max(texts_per_second);
        cpu_ms = cpu_ms.min(cpu_ms_per_text);
    }
    println!(
        "neural_throughput model={} runtime={runtime} device={device} tokens={} threads={threads} \
         texts_per_s={per_second:.1} cpu_ms_per_text={cpu_ms:.3} load_ms={}",
        model.name(),
        TOKENS + 2,
        load.as_millis()
    );
}

/// Texts a second and milliseconds of processor for each.
fn run(model: &dyn QualityModel, texts: &[&str]) -> (f64, f64) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut scored = 0;
    while start.elapsed() < RUN {
        model.score(texts).expect("scores");
        scored += texts.len();
    }
    let scored = scored as f64;
    (scored / start.elapsed().as_secs_f64(), (cpu_seconds() - cpu) * 1000.0 / scored)
}

/// Time of all threads of this process, not a number where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = after_name.split_whitespace().skip(11);
    let mut ticks = || fields.next().and_then(|ticks| ticks.parse::<f64>().ok());
    match (ticks(), ticks()) {
        (Some(user), Some(system)) => (user + system) / TICKS_PER_SECOND,
        _ => f64::NAN,
    }
}

/// Texts of different words from the guide, of [`TOKENS`] tokens or the last word less.
fn texts(tokenizer: &Tokenizer) -> Vec<String> {
    let guide =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide.md"));
    let guide = guide.expect("docs/guide.md");
    let words: Vec<&str> = guide.split_whitespace().collect();
    let text = |number: usize| {
        let (mut text, mut tokens) = (String::new(), 0);
        for word in words.iter().cycle().skip(number * 37) {
            tokens += tokenizer.encode_fast(*word, false).expect("tokens").len();
            if tokens > TOKENS {
                break;
            }
            text.push_str(word);
            text.push(' ');
        }
        text
    };
    (0..CALL).map(text).collect()
}
