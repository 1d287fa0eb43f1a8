//! Jobs of several ranks, which end by themselves or are ended.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// What came of a job.
pub(crate) struct Job {
    /// What `mpirun` returned; nothing if it had to be ended.
    pub(crate) status: Option<i32>,
    /// All that was written to standard error and standard output.
    pub(crate) said: String,
}

/// How long ranks wait for each other where one of them is at fault.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// Everything must be over by then, on a busy machine too.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Runs a case on so many ranks, of which there may be more than processors.
pub(crate) fn launch(case: &str, ranks: usize, is_fine: bool) -> Job {
    let this = std::env::current_exe().expect("this program");
    // Where all is well a busy machine may take its time.
    let timeout = if is_fine { WATCHDOG } else { TIMEOUT };
    let mut command = Command::new("mpirun");
    command
        .args(["-n", &ranks.to_string()])
        .arg(this)
        .args(["--rank-of", case])
        .env("STRIDEWISE_TIMEOUT", timeout.as_secs_f64().to_string())
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("mpirun, from openmpi-bin");
    let (done, ended) = mpsc::channel();
    for mut stream in streams(&mut child) {
        let done = done.clone();
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said);
            let _ = done.send(String::from_utf8_lossy(&said).into_owned());
        });
    }
    // Both streams end when the last rank has.
    let mut said = String::new();
    for _ in 0..2 {
        match ended.recv_timeout(WATCHDOG) {
            Ok(text) => said += &text,
            Err(_) => {
                // SAFETY: a signal to a process that this one started and has not waited for. `mpirun` hands it on.
                unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
                let _ = child.wait();
                return Job { status: None, said };
            }
        }
    }
    let status = child.wait().expect("a status");
    Job {
        status: Some(status.code().unwrap_or(-1)),
        said,
    }
}

fn streams(child: &mut Child) -> [Box<dyn Read + Send>; 2] {
    [
        Box::new(child.stderr.take().expect("piped")),
        Box::new(child.stdout.take().expect("piped")),
    ]
}
