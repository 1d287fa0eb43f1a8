//! Opening the device that a process shares, again after it was lost, and where there is none. In processes of their own,
//! since other tests would lose it too.
#![allow(clippy::unwrap_used)]

use stridewise_core::Error;
use stridewise_core::operators::Methods;
use stridewise_cpu::Tensor;
use stridewise_gpu::Gpu;

#[test]
fn opening_again_after_a_loss_gives_a_new_device() {
    let x = Tensor::from_vec(vec![1u16, 2, 3], &[3]).unwrap();
    let first = Gpu::open().unwrap();
    assert!(first.device().is(Gpu::open().unwrap().device()));
    let far = first.upload(&x).unwrap();
    first.device().lose();
    assert!(matches!(far.download(), Err(Error::Device(_))));

    let second = Gpu::open().unwrap();
    assert!(!second.device().is(first.device()));
    let y = second.upload(&x).unwrap().repeat([2]).unwrap();
    assert_eq!(
        y.download().unwrap().to_vec::<u16>().unwrap(),
        [1, 2, 3, 1, 2, 3]
    );
    assert!(matches!(far.download(), Err(Error::Device(_))));
}

/// Where no driver is to be found, opening fails and says what to install. A process of its own looks for none.
#[cfg(target_os = "linux")]
#[test]
fn without_a_driver_the_error_says_what_to_install() {
    const CHILD: &str = "STRIDEWISE_TEST_WITHOUT_DRIVER";
    if std::env::var_os(CHILD).is_some() {
        for _ in 0..2 {
            let error = Gpu::open().unwrap_err();
            assert!(matches!(error, Error::Device(_)));
            println!("{error}");
        }
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "without_a_driver_the_error_says_what_to_install",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .env("VK_DRIVER_FILES", "/nowhere")
        .env("VK_ICD_FILENAMES", "/nowhere")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{text}");
    let wanted =
        "no GPU was found: no driver answers for one\n  looked through: vulkan\n  help: install";
    assert_eq!(text.matches(wanted).count(), 2, "{text}");
    assert!(text.contains("mesa-vulkan-drivers"), "{text}");
}
