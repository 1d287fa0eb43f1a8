//! How much memory there is and how much is left, as Linux and its control groups tell it. Elsewhere the
//! answer is that nobody knows, and the system allocator has the last word.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Bytes of physical memory.
pub(super) fn physical() -> Option<usize> {
    meminfo("MemTotal:")
}

/// Bytes that could be had now without anything being killed: what the machine has left, or the control
/// group if that is less.
pub(super) fn available() -> Option<usize> {
    let machine = meminfo("MemAvailable:");
    let groups = groups(&read_to_string("/proc/self/cgroup").unwrap_or_default());
    machine.into_iter().chain(groups).min()
}

fn meminfo(field: &str) -> Option<usize> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: usize = kib.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// What is left in each control group this process is in, outer ones included.
fn groups(membership: &str) -> Vec<usize> {
    let mut left = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (root, files) = if controllers.is_empty() {
            ("/sys/fs/cgroup", &V2)
        } else if controllers.split(',').any(|name| name == "memory") {
            ("/sys/fs/cgroup/memory", &V1)
        } else {
            continue;
        };
        // Inside a container the path may be the host's, and only the root exists.
        let group = PathBuf::from(format!("{root}{path}"));
        let levels = group
            .ancestors()
            .take_while(|level| level.starts_with(root));
        left.extend(levels.filter_map(|level| files.left(level)));
    }
    left
}

/// The file names of one version of control groups.
struct Files {
    limit: &'static str,
    usage: &'static str,
    reclaimable: &'static str,
}

const V2: Files = Files {
    limit: "memory.max",
    usage: "memory.current",
    reclaimable: "inactive_file",
};
const V1: Files = Files {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

impl Files {
    /// What the group at `level` has left, or `None` when it has no limit.
    fn left(&self, level: &Path) -> Option<usize> {
        let number = |file: &str| -> Option<usize> {
            let text = read_to_string(level.join(file)).ok()?;
            text.trim().parse().ok()
        };
        let limit = number(self.limit)?;
        let usage = number(self.usage)?;
        let stat = read_to_string(level.join("memory.stat")).unwrap_or_default();
        let reclaimable = stat
            .lines()
            .find_map(|line| line.strip_prefix(self.reclaimable)?.trim().parse().ok())
            .unwrap_or(0);
        Some(limit.saturating_sub(usage.saturating_sub(reclaimable)))
    }
}
