//! JSON lines: one object a URL, with everything that is known of the pick.

use super::PlanFormat;

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "jsonl",
    description: "one JSON object a line, with the parts of the estimate, queries and matches",
    write: |out, planned| {
        for url in planned {
            serde_json::to_writer(&mut *out, url)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    },
};
