//! Neural models, run by an ONNX Runtime library: the same scores as by rten. A test of its own,
//! since the first model that is loaded decides for the process.
//!
//! `PROSPECT_ONNXRUNTIME` names the library; without it, nothing is tested. `PROSPECT_ONNXRUNTIME_DEVICE` names
//! what it runs models on, by default the processor.

#![cfg(feature = "neural")]

use prospect::neural::{self, Device, Runtime};

#[path = "neural/expected.rs"]
mod expected;

#[test]
fn every_kind_scores_as_pytorch_does() {
    let Some(library) = std::env::var_os("PROSPECT_ONNXRUNTIME") else {
        println!("skipped: PROSPECT_ONNXRUNTIME names no library of ONNX Runtime");
        return;
    };
    let device = std::env::var("PROSPECT_ONNXRUNTIME_DEVICE");
    let device = device.map_or(Device::Cpu, |device| device.parse().unwrap());
    let runtime = Runtime { library: Some(library.into()), threads: 2, device };
    expected::check_all(&runtime);
    let one = Runtime { threads: 1, ..runtime.clone() };
    for name in expected::QUALITY {
        let source = expected::source(name);
        let (one, two) =
            (neural::load_quality(&source, &one), neural::load_quality(&source, &runtime));
        let (one, two) = (one.unwrap(), two.unwrap());
        let cases = expected::cases(name);
        let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
        for (text, score) in texts.iter().zip(two.score(&texts).unwrap()) {
            let alone = one.score(&[*text]).unwrap()[0];
            assert_eq!(alone.to_bits(), score.to_bits(), "{name}: {text:?}");
        }
    }
    let built_in = Runtime { library: None, threads: 1, device: Device::Cpu };
    let error = neural::load_quality(&expected::source("t5"), &built_in).err().unwrap().to_string();
    assert!(error.contains("asked for was rten 0.27; name one runtime"), "{error}");
}
