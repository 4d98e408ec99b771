//! Run files in places where nothing can be written: an archive, a disk for reading only.

use plimsoll_record::event::Sink;
use plimsoll_record::run_file::{RunFile, read};
use plimsoll_testkit::made_up::disk::{on_a_disk, write_protect};
use plimsoll_testkit::made_up::{events, gathered, names, opening};

#[test]
fn a_finished_run_is_read_from_a_disk_for_reading_only() {
    on_a_disk("run_file_places::a_finished_run_is_read_from_a_disk_for_reading_only", 8192, |disk| {
        let path = disk.join("run.plim");
        let events = events(&opening("a", 1), 25, 50);
        let mut writer = RunFile::create(&path, &opening("a", 1)).unwrap();
        events.iter().for_each(|event| writer.event(event));
        drop(writer);
        write_protect(disk);
        assert_eq!(read(&path).unwrap(), gathered(&events));
    });
}

#[test]
fn a_killed_run_is_read_from_a_disk_for_reading_only() {
    on_a_disk("run_file_places::a_killed_run_is_read_from_a_disk_for_reading_only", 8192, |disk| {
        let live = disk.join("live.plim");
        let events = &events(&opening("a", 1), 25, 50)[..18];
        let mut writer = RunFile::create(&live, &opening("a", 1)).unwrap();
        events.iter().for_each(|event| writer.event(event));
        // What a kill leaves, with and without SQLite's index of the log.
        for name in ["with.plim", "without.plim"] {
            std::fs::copy(&live, disk.join(name)).unwrap();
            std::fs::copy(disk.join("live.plim-wal"), disk.join(format!("{name}-wal"))).unwrap();
        }
        std::fs::copy(disk.join("live.plim-shm"), disk.join("with.plim-shm")).unwrap();
        drop(writer);
        write_protect(disk);
        let before = names(disk);
        for name in ["with.plim", "without.plim"] {
            assert_eq!(read(&disk.join(name)).unwrap(), gathered(events), "{name}");
        }
        assert_eq!(names(disk), before);
        let left = names(&std::env::temp_dir());
        let mine = format!("plimsoll-read-{}-", std::process::id());
        assert!(!left.iter().any(|name| name.starts_with(&mine)), "no copy is left lying about");
    });
}
