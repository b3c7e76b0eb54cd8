import AgeEncryption
import Destinations
import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerClient
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of automations as `hpeer run` and `hpeer sync` execute them.
@Suite(.timeLimit(.minutes(5)))
struct AutomationServiceTests {
  private let home: TestHome
  private let context: AutomationContext
  private let output: String

  init() async throws {
    home = try TestHome()
    let local = try await home.local(name: "laptop")
    let finder = PeerFinder(registry: local.registry, ownID: local.identity.id) { $0 }
    context = AutomationContext(
      home.home, local, pull: PullOperation(local, finder: finder, persons: PersonCheck(local.registry)), program: "1.0"
    )
    output = home.directory.path("output")
  }

  private func settings(_ lines: String) throws {
    try PrivateSettings.write(lines.lined, home.home.settingsPath)
  }

  /// The action of an automation that appends its standard input to a file.
  private var keeps: String { #"do = "command"\ncommand = ["/bin/sh", "-c", "cat >> '\#(output)'"]"# }

  private var lines: [String] {
    ((try? String(contentsOfFile: output, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// Runs the due automations, as `hpeer sync` does, and returns what was done.
  private func due() async throws -> [String] {
    var done: [String] = []
    try await DueAutomations(context).run(words: { "\($0)" }) { automation, outcome in
      switch outcome {
      case .success(let result): done.append("\(automation.name): \(result)")
      case .failure(let error): done.append("\(automation.name)! \(error)")
      }
    }
    return done
  }

  @Test("a change counts once, and from when the automation is first looked at")
  func change() async throws {
    try await home.fill(3)
    try settings("[automation.one]\nwhen = \"change\"\ntypes = [\"heartRate\"]\n" + keeps)
    #expect(try await due() == [])
    try await home.fill(5)
    #expect(try await due() == ["one: sh ended well"])
    #expect(try await due() == [])
    #expect(lines == [#"{"automation":"one","occasion":"change"}"#])
    #expect(try await home.auditedNames().suffix(2) == ["automation.started", "automation.finished"])
  }

  @Test("a change of another type is none")
  func otherType() async throws {
    try settings("[automation.one]\nwhen = \"change\"\ntypes = [\"stepCount\"]\n" + keeps)
    #expect(try await due() == [])
    try await home.fill(3)
    #expect(try await due() == [])
  }

  @Test("what was killed in the middle is done again")
  func killed() async throws {
    try settings("[automation.one]\nwhen = \"interval\"\nevery = \"7d\"\n" + keeps)
    #expect(try await due() == [])
    let name = Automation.activityPrefix + "one"
    try await home.store.activities.setDue(true, name)
    try await home.store.activities.begin(name, event: nil)
    #expect(try await due() == ["one: sh ended well"])
    #expect(try await due() == [])
    #expect(try await home.store.activities.state(of: name)?.due == nil)
  }

  @Test("a missed time is made up once")
  func missed() async throws {
    try settings("[automation.one]\nwhen = \"interval\"\nevery = \"1h\"\n" + keeps)
    // As if it had been added four days ago.
    let created = Timestamp(seconds: Timestamp.now.seconds - 4 * 86_400)
    _ = try await home.store.activities.known(Automation.activityPrefix + "one", now: created)
    #expect(try await due().count == 1)
    #expect(try await due() == [])
    #expect(lines.count == 1)
  }

  @Test("after a clock that was a year ahead has been put back, it is done in its time, whichever processes look")
  func putBack() async throws {
    let start = Timestamp.now.seconds
    for (trigger, due) in [
      ("when = \"interval\"\nevery = \"1h\"", 3600), ("when = \"time\"\nat = [\"00:00\"]", 2 * 86_400),
    ] {
      try settings("[automation.a\(due)]\n\(trigger)\n" + keeps)
      let automation = try #require(try Automation.all(in: home.home.settings()).first)
      let ahead = Timestamp(seconds: start + 366 * 86_400)
      try await home.store.activities.begin(automation.activity, event: nil, now: ahead)
      func isPending(after seconds: Int64) async throws -> Bool {
        let time = AutomationClock(now: { Timestamp(seconds: start + seconds) })
        var watcher = TimeWatcher(automation: automation, context: context, time: time)
        return try await watcher.pending() != nil
      }
      #expect(try await !isPending(after: 0))
      #expect(try await isPending(after: Int64(due)))
    }
  }

  @Test("a program that fails is said, counted, tried again and forgiven")
  func failing() async throws {
    let flag = home.directory.path("flag")
    try settings(
      "[automation.one]\nwhen = \"change\"\ndo = \"command\"\ncommand = [\"/bin/sh\", \"-c\", \"echo no flag >&2; test -e '\(flag)'\"]"
    )
    #expect(try await due() == [])
    try await home.fill(2)
    #expect(try await due() == ["one! /bin/sh ended with 1: no flag"])
    var state = try #require(try await home.store.activities.state(of: "automation:one"))
    #expect(state.failing != nil && state.failures == 1 && state.due != nil)
    #expect(state.reason == "/bin/sh ended with 1: no flag")
    try Data().write(to: URL(filePath: flag))
    #expect(try await due() == ["one: sh ended well"])
    state = try #require(try await home.store.activities.state(of: "automation:one"))
    #expect(state.failing == nil && state.failures == 0 && state.due == nil && state.runs == 1)
  }

  @Test("a program that takes too long is killed")
  func late() async throws {
    try settings(
      #"[automation.one]\nwhen = "change"\ndo = "command"\ncommand = ["/bin/sleep", "600"]\ntimeout = "1s""#)
    let automation = try #require(try Automation.all(in: home.home.settings()).first)
    await #expect(throws: AutomationFailure.late(.seconds(1))) {
      _ = try await AutomationRun(automation, context).run(.asked)
    }
  }

  @Test("one whose time has come while another process does it waits before it is tried again")
  func busyAtItsTime() async throws {
    try settings("[automation.one]\nwhen = \"interval\"\nevery = \"1h\"\n" + keeps)
    let created = Timestamp(seconds: Timestamp.now.seconds - 86_400)
    _ = try await home.store.activities.known(Automation.activityPrefix + "one", now: created)
    let folder = "\(home.home.directory)/automations"
    try PrivateFile.makeDirectory(folder)
    let lock = try #require(try FileLock(ifFree: "\(folder)/one.lock", .alone))
    let (failures, failed) = AsyncStream.makeStream(of: Duration?.self)
    let service = AutomationService(
      context, reloads: Reloads(), time: AutomationClock(clock: ManualClock()),
      tell: { _, event in
        if case .failed(_, let pause) = event { failed.yield(pause) }
      })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      defer { group.cancelAll() }
      let pause = try #require(await failures.first { _ in true })
      #expect(pause != nil)
    }
    withExtendedLifetime(lock) {}
  }

  @Test("a delivery to a destination with a mistake fails, and says which")
  func mistakenDestination() async throws {
    try settings(
      #"[destination.bucket]\nkind = "folder"\n\n[automation.one]\nwhen = "change"\ndo = "deliver"\ndestinations = ["bucket"]"#
    )
    let automation = try #require(try Automation.readable(in: home.home).first)
    await #expect { _ = try await AutomationRun(automation, context).run(.asked) } throws: { error in
      "\(error)".contains("bucket")
    }
  }

  @Test("of two that run one at once, one is told")
  func busy() async throws {
    let fifo = home.directory.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    try settings(
      "[automation.one]\nwhen = \"change\"\ndo = \"command\"\ncommand = [\"/bin/sh\", \"-c\", \"echo begun > '\(output)'; cat '\(fifo)'\"]"
    )
    let automation = try #require(try Automation.all(in: home.home.settings()).first)
    async let first = AutomationRun(automation, context).run(.asked)
    while lines.isEmpty { await Task.yield() }
    await #expect(throws: AutomationFailure.busy("one")) {
      _ = try await AutomationRun(automation, context).run(.asked)
    }
    try Data("x".utf8).write(to: URL(filePath: fifo))
    #expect(try await first == "sh ended well")
  }

  @Test("a file is imported once, a part of one again when it is whole, and one that cannot be read is left alone")
  func files() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try settings("[automation.drop]\nwhen = \"file\"\nfolder = \"\(folder)\"\npattern = \"*.xml\"\ndo = \"import\"")
    func put(_ name: String, _ text: String, age: Double = 60) throws {
      let url = URL(filePath: "\(folder)/\(name)")
      try Data(text.utf8).write(to: url)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: url.path)
    }
    try put("a.xml", AppleExportText(heartRates: 3).text)
    try put("b.txt", "not asked for")
    try put(".hidden.xml", AppleExportText(heartRates: 9).text)
    try put("c.xml.part", AppleExportText(heartRates: 9).text)
    #expect(try await due() == ["drop: a.xml: 3 added"])
    #expect(try await due() == [])
    try put("a.xml", AppleExportText(heartRates: 5).text, age: 30)
    try put("bad.xml", "<x", age: 20)
    let done = try await due()
    #expect(
      done.first == "drop: a.xml: 2 added" && done.count == 2 && done.last?.hasPrefix("drop! ") == true, "\(done)")
    #expect(try await due() == [])
    #expect(try await home.count() == 5)
  }

  @Test("of a file that is left alone it is not said that it is tried again")
  func leftAlone() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("<x".utf8).write(to: URL(filePath: "\(folder)/bad.xml"))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: "\(folder)/bad.xml")
    try settings("[automation.drop]\nwhen = \"file\"\nfolder = \"\(folder)\"\ndo = \"import\"")
    let pauses = Mutex<[Duration?]>([])
    try await running { _ in
      try await waitFor { pauses.withLock { !$0.isEmpty } }
    } tell: { _, event in
      if case .failed(_, let pause) = event { pauses.withLock { $0.append(pause) } }
    }
    #expect(pauses.withLock { $0 } == [nil])
  }

  @Test("a file that cannot be dealt with holds up no other, and is tried again after them and when it is another")
  func badFile() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    func put(_ name: String, _ text: String, age: Double) throws {
      try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: "\(folder)/\(name)")
    }
    try settings(
      "[automation.keep]\nwhen = \"file\"\nfolder = \"\(folder)\"\ndo = \"command\"\n"
        + "command = [\"/bin/sh\", \"-c\", \"grep -q good \\\"$HPEER_FILE\\\" && basename $HPEER_FILE >> '\(output)'\"]"
    )
    try put("a", "bad", age: 90)
    try put("b", "good", age: 60)
    try put("c", "good", age: 30)
    let done = try await due()
    #expect(done.count == 3 && done[0].hasPrefix("keep! ") && lines == ["b", "c"], "\(done)")
    #expect(try await due().count == 1)
    try put("a", "good by now", age: 20)
    #expect(try await due() == ["keep: sh ended well"])
    #expect(lines == ["b", "c", "a"])
    // While it runs nothing waits for a bad one either.
    try put("d", "bad", age: 90)
    try put("e", "good", age: 60)
    try await running { try await waitFor { lines.last == "e" } }
  }

  @Test("a destination that is paused or disabled is left out, and that is no failure")
  func pausedDestination() async throws {
    try await home.fill(3)
    func section(_ name: String, _ more: String = "") -> String {
      "[destination.\(name)]\nkind = \"command\"\ncommand = [\"/bin/sh\", \"-c\", \"cat >> '\(output)'\"]\n\(more)\n"
    }
    try settings(
      section("first") + section("second") + section("third", "enabled = false")
        + "[automation.one]\nwhen = \"interval\"\nevery = \"1h\"\ndo = \"deliver\"\n"
        + "destinations = [\"first\", \"second\", \"third\"]")
    let automation = try #require(try Automation.all(in: home.home.settings()).first)
    try await home.store.deliveries.setPaused(true, "command:second")
    #expect(
      try await AutomationRun(automation, context).run(.asked)
        == "first: 3 delivered; second: left out, it is paused; third: left out, it is disabled")
    #expect(lines.count == 3)
    #expect(try await home.store.activities.state(of: "automation:one")?.failing == nil)
  }

  @Test("backups are made into a folder, the newest are kept, and what others put there stays")
  func backups() async throws {
    let folder = home.directory.path("stick")
    let secret = home.directory.path("passphrase")
    try PrivateFile.replace(secret, Array("four words of mine\n".utf8))
    try settings(
      #"""
      [automation.stick]
      when = "time"
      at = ["04:00"]
      do = "backup"
      folder = "\#(folder)"
      passphrase-file = "\#(secret)"
      keep = 2
      """#)
    let automation = try #require(try Automation.all(in: home.home.settings()).first)
    // Its disk is away.
    await #expect(throws: KeptBackupFailure.noFolder(folder)) {
      try await AutomationRun(automation, context).run(.asked)
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let mark = home.store.id.uuidString.lowercased().prefix(8)
    let others = [
      "hpeer-2020-01-01T000000Z-\(mark).tar.zst.age", "hpeer-2020-01-01T000000Z-other000.tar.zst.age",
      "hpeer-of-mine.tar.zst.age", "notes.txt",
    ]
    for name in others { try Data("mine".utf8).write(to: URL(filePath: "\(folder)/\(name)")) }
    let kept = BackupRotation(folder: folder, recipients: [], passphraseFile: secret, count: 2)
    var names: [String] = []
    for day in 0..<3 {
      names.append(
        try await kept.add(
          of: home.home, program: "1.0", at: Timestamp(seconds: 1_780_000_000 + Int64(day) * 86_400)))
    }
    #expect(names.first == "hpeer-2026-05-28T202640Z-\(mark).tar.zst.age")
    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    #expect(try files() == (names.suffix(2) + others.dropFirst()).sorted())
    // A clock that is behind: what was made just now stays, and the newest of the others.
    let late = try await kept.add(of: home.home, program: "1.0", at: Timestamp(seconds: 1_700_000_000))
    #expect(try files() == (names.suffix(1) + [late] + others.dropFirst()).sorted())
    let newest = try #require(names.last)
    let verification = BackupVerification("\(folder)/\(newest)", keys: [.passphrase("four words of mine")])
    #expect(try await verification.run(in: home.directory.path).contents == .everything)
  }

  @Test("a file that grows while it is dealt with comes again")
  func growing() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    func put(_ text: String, age: Double) throws {
      try Data(text.utf8).write(to: URL(filePath: folder + "/a.xml"))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: folder + "/a.xml")
    }
    var watcher = FolderWatcher(
      activity: "automation:drop", folder: WatchedFolder(path: folder, pattern: "*"), store: home.store,
      time: AutomationClock())
    try put("half", age: 60)
    let occasion = try #require(try await watcher.pending())
    try put("half and the rest", age: 30)
    try await watcher.dealtWith(occasion, failure: nil)
    #expect(try await watcher.pending() == occasion)
    try await watcher.dealtWith(occasion, failure: nil)
    #expect(try await watcher.pending() == nil)
  }

  @Test("what was dealt with is not dealt with again after the folder was empty for a while, as without its disk")
  func emptyForAWhile() async throws {
    let (folder, away) = (home.directory.path("in"), home.directory.path("away"))
    let files = FileManager.default
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("whole".utf8).write(to: URL(filePath: folder + "/a.xml"))
    try files.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: folder + "/a.xml")
    var watcher = FolderWatcher(
      activity: "automation:drop", folder: WatchedFolder(path: folder, pattern: "*"), store: home.store,
      time: AutomationClock())
    try await watcher.dealtWith(try #require(try await watcher.pending()), failure: nil)
    try files.moveItem(atPath: folder, toPath: away)
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    #expect(try await watcher.pending() == nil)
    try files.removeItem(atPath: folder)
    try files.moveItem(atPath: away, toPath: folder)
    #expect(try await watcher.pending() == nil)
  }

  @Test(
    "two files whose names Unicode calls equal are two, and each comes once, also with a mark of an earlier version")
  func equivalentNames() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, age) in [("old.xml", 90.0), ("\u{E9}.xml", 60), ("e\u{301}.xml", 50), ("\u{301}.xml", 40)] {
      let path = "\(folder)/\(name)"
      let file = open(path, O_CREAT | O_WRONLY, 0o600)
      #expect(file >= 0 && write(file, "whole", 5) == 5 && close(file) == 0)
      var times = [timespec(tv_sec: Int(Date().timeIntervalSince1970 - age), tv_nsec: 0)]
      times.append(times[0])
      #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    }
    let watched = WatchedFolder(path: folder, pattern: "*")
    let old = try #require(watched.version(of: folder + "/old.xml"))
    try await home.store.activities.setMark(#"{"old.xml":"\#(old)"}"#, "automation:drop")
    var watcher = FolderWatcher(
      activity: "automation:drop", folder: watched, store: home.store, time: AutomationClock())
    var seen: [AutomationOccasion] = []
    while let occasion = try await watcher.pending(), seen.count < 9 {
      seen.append(occasion)
      let takeBack = try await watcher.begins(occasion)
      _ = takeBack
      try await watcher.dealtWith(occasion, failure: nil)
    }
    #expect(seen.count == 3)
    // As after a start.
    watcher = FolderWatcher(activity: "automation:drop", folder: watched, store: home.store, time: AutomationClock())
    #expect(try await watcher.pending() == nil)
  }

  @Test("links and names that are no text are passed over, and the log has that once, also after a restart")
  func passedOver() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("whole".utf8).write(to: URL(filePath: folder + "/a.xml"))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: folder + "/a.xml")
    for name in ["b.xml", "c.xml"] { #expect(symlink("/etc/hostname", folder + "/" + name) == 0) }
    try makeNameless(in: folder)
    func watcher() -> FolderWatcher {
      FolderWatcher(
        activity: "automation:drop", folder: WatchedFolder(path: folder, pattern: "*.xml"), store: home.store,
        time: AutomationClock())
    }
    func told() async throws -> [[String: String]] {
      try await home.audited().filter { $0.event == "automation.passedOver" }.map(\.detail)
    }
    var first = watcher()
    let occasion = try #require(try await first.pending())
    try await first.dealtWith(occasion, failure: nil)
    for _ in 0..<2 {
      var again = watcher()
      #expect(try await again.pending() == nil)
    }
    let events = try await told()
    #expect(events.map { $0["reason"] } == ["link", "name"])
    #expect(events.map { $0["files"] } == ["2", "1"])
    #expect(events.allSatisfy { $0["automation"] == "drop" } && events.first?["file"] == "b.xml")
    #expect(symlink("/etc/hostname", folder + "/d.xml") == 0)
    var later = watcher()
    #expect(try await later.pending() == nil)
    #expect(try await told().last?["file"] == "d.xml")
  }

  @Test("a file at which the process ends comes after all others, and after three times no more")
  func attempts() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, age) in [("bad.xml", 90.0), ("good.xml", 60.0)] {
      try Data("whole".utf8).write(to: URL(filePath: "\(folder)/\(name)"))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: "\(folder)/\(name)")
    }
    /// Returns a new watcher, as after a start.
    func watcher() -> FolderWatcher {
      FolderWatcher(
        activity: "automation:drop", folder: WatchedFolder(path: folder, pattern: "*.xml"), store: home.store,
        time: AutomationClock())
    }
    var first = watcher()
    let bad = try #require(try await first.pending())
    #expect(bad == .file(path: "\(folder)/bad.xml"))
    _ = try await first.begins(bad)
    var second = watcher()
    let good = try #require(try await second.pending())
    #expect(good == .file(path: "\(folder)/good.xml"))
    _ = try await second.begins(good)
    try await second.dealtWith(good, failure: nil)
    // Stopped in order, which says nothing of the file.
    for _ in 0..<5 {
      var stopped = watcher()
      #expect(try await stopped.pending() == bad)
      let takeBack = try await stopped.begins(bad)
      try await takeBack()
    }
    for _ in 0..<3 {
      var ended = watcher()
      #expect(try await ended.pending() == bad)
      _ = try await ended.begins(bad)
    }
    var last = watcher()
    #expect(try await last.pending() == nil)
    let events = try await home.audited().filter { $0.event == "automation.passedOver" }
    #expect(events.map { $0.detail["reason"] } == ["ended"] && events.first?.detail["file"] == "bad.xml")
    #expect(try await last.pending() == nil)
  }

  @Test("a file that takes too much memory is not tried again")
  func tooMuchMemory() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("whole".utf8).write(to: URL(filePath: folder + "/a.xml"))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: folder + "/a.xml")
    var watcher = FolderWatcher(
      activity: "automation:drop", folder: WatchedFolder(path: folder, pattern: "*"), store: home.store,
      time: AutomationClock())
    let occasion = try #require(try await watcher.pending())
    _ = try await watcher.begins(occasion)
    try await watcher.dealtWith(occasion, failure: AutomationFailure.tooMuchMemory(file: "a.xml", limit: 1 << 30))
    #expect(try await watcher.pending() == nil)
  }

  @Test("a name that is no text does not have a file taken again whose name reads like it")
  func namesThatReadAlike() async throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("whole".utf8).write(to: URL(filePath: folder + "/\u{FFFD}.xml"))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: folder + "/\u{FFFD}.xml")
    try makeNameless(in: folder)
    var watcher = FolderWatcher(
      activity: "automation:drop", folder: WatchedFolder(path: folder, pattern: "*"), store: home.store,
      time: AutomationClock())
    try await watcher.dealtWith(try #require(try await watcher.pending()), failure: nil)
    for _ in 0..<2 { #expect(try await watcher.pending() == nil) }
  }

  @Test("a file that was written to in the last seconds, by whatever clock, is not whole yet", arguments: [-2.0, 0, 2])
  func fresh(age: Double) throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("half".utf8).write(to: URL(filePath: folder + "/a.xml"))
    let written = try #require(FileStatus(folder + "/a.xml")).modified.timeIntervalSince1970
    let watched = WatchedFolder(path: folder, pattern: "*")
    #expect(try watched.contents(now: written + age).files.isEmpty)
    for later in [-60.0, 4] { #expect(try watched.contents(now: written + later).files.map(\.name) == ["a.xml"]) }
  }

  @Test("what is passed over takes no place of what is taken")
  func manyPassedOver() throws {
    let folder = home.directory.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for number in 0..<6 {
      #expect(symlink("/etc/hostname", "\(folder)/link\(number)") == 0)
      try Data("whole".utf8).write(to: URL(filePath: "\(folder)/file\(number)"))
    }
    let later = Date().timeIntervalSince1970 + 60
    let contents = try WatchedFolder(path: folder, pattern: "*").contents(now: later, most: 5)
    #expect(contents.files.count == 5 && contents.passedOver.count <= 5)
    #expect(try WatchedFolder(path: folder, pattern: "*").contents(now: later).passedOver.count == 6)
  }

  /// Creates a file whose name is the letter ä in Latin-1, which isn't valid UTF-8.
  private func makeNameless(in folder: String) throws {
    let path = Array(folder.utf8CString.dropLast()) + [0x2f, CChar(bitPattern: 0xe4), 0x2e, 0x78, 0x6d, 0x6c, 0]
    let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
  }

  @Test("a folder that is missing is said, and shown as failing")
  func missingFolder() async throws {
    try settings(#"[automation.drop]\nwhen = "file"\nfolder = "/nowhere/at/all"\ndo = "import""#)
    let done = try await due()
    #expect(done.count == 1 && done[0].contains("/nowhere/at/all"), "\(done)")
  }

  @Test("a folder that was missing for a while fails no more once it is there, though no file is")
  func missingForAWhile() async throws {
    let folder = home.directory.path("later")
    try settings(#"[automation.drop]\nwhen = "file"\nfolder = "\#(folder)"\ndo = "import""#)
    let clock = ManualClock()
    let service = AutomationService(
      context, reloads: Reloads(), time: AutomationClock(clock: clock), tell: { _, _ in })
    func isFailing() async throws -> Bool {
      try await home.store.activities.state(of: "automation:drop")?.failing != nil
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      defer { group.cancelAll() }
      try await waitFor { try await isFailing() }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try await waitFor {
        clock.advance(by: .seconds(1))
        return try await !isFailing()
      }
    }
  }

  @Test("a machine that is not paired is named")
  func noPeer() async throws {
    try settings(#"[automation.one]\nwhen = "interval"\nevery = "1h"\ndo = "pull"\npeers = ["attic"]"#)
    let automation = try #require(try Automation.all(in: home.home.settings()).first)
    await #expect(throws: AutomationFailure.noPeer("attic")) {
      _ = try await AutomationRun(automation, context).run(.asked)
    }
  }

  @Test("one that is paused or disabled does nothing; resumed, it makes up what it missed once")
  func paused() async throws {
    try settings("[automation.one]\nwhen = \"interval\"\nevery = \"1h\"\n" + keeps)
    let name = Automation.activityPrefix + "one"
    _ = try await home.store.activities.known(name, now: Timestamp(seconds: Timestamp.now.seconds - 86_400))
    func set(_ isPaused: Bool) async throws {
      try await home.store.activities.setPaused(
        isPaused, name, event: AuditEvent(.automationChanged, ["automation": "one"]))
    }
    try await set(true)
    #expect(try await due() == [])
    try await set(false)
    #expect(try await due() == ["one: sh ended well"])
    try settings("[automation.one]\nwhen = \"interval\"\nevery = \"1h\"\nenabled = false\n" + keeps)
    #expect(try await due() == [])
  }

  @Test("a program that a killed hpeer has left orphaned is killed before it is run again")
  func orphaned() async throws {
    try settings("[automation.one]\nwhen = \"interval\"\nevery = \"1h\"\n" + keeps)
    let name = Automation.activityPrefix + "one"
    _ = try await home.store.activities.known(name, now: Timestamp(seconds: Timestamp.now.seconds - 86_400))
    let orphan = try OrphanedProgram(record: "\(home.home.directory)/automations/one.run")
    #expect(try await due() == ["one: sh ended well"])
    #expect(await orphan.ended() == SIGKILL)
  }

  @Test("the first value of all crosses a line, as it was not over there when the automation was made")
  func firstValue() async throws {
    try settings("[automation.pulse]\nwhen = \"threshold\"\ntype = \"heartRate\"\nabove = 50\n" + keeps)
    #expect(try await due() == [])
    try await home.fill(1)
    #expect(try await due() == ["pulse: sh ended well"])
    #expect(try await due() == [])
  }

  @Test("while it runs, a value that crosses a line is told with its value, once")
  func threshold() async throws {
    try await home.fill(3)
    try settings("[automation.pulse]\nwhen = \"threshold\"\ntype = \"heartRate\"\nabove = 63.5\n" + keeps)
    try await running {
      try await waitFor { try await home.store.activities.state(of: "automation:pulse")?.mark == "ready" }
      try await home.fill(5)
      try await waitFor { lines.count == 1 }
    }
    #expect(
      lines == [
        #"{"automation":"pulse","occasion":"threshold","type":"HKQuantityTypeIdentifierHeartRate","unit":"count\/min","value":64}"#
          .replacingOccurrences(of: #"\/"#, with: "/")
      ])
    #expect(try await home.store.activities.state(of: "automation:pulse")?.mark == "crossed")
    // No value is in the log.
    #expect(try await home.audited().allSatisfy { !$0.detail.values.contains("64.0") })
  }

  @Test("settings are read again when they are to be, and what cannot be read leaves things as they are")
  func reloading() async throws {
    try settings("[automation.one]\nwhen = \"change\"\ndebounce = \"0s\"\n" + keeps)
    let unreadable = Mutex(false)
    try await running { reloads in
      try await waitFor { try await home.store.activities.state(of: "automation:one")?.mark != nil }
      try settings("[automation.one\n")
      reloads.request()
      try await waitFor { unreadable.withLock(\.self) }
      try await home.fill(2)
      try await waitFor { lines.count == 1 }
    } tell: { _, event in
      if case .unreadableSettings = event { unreadable.withLock { $0 = true } }
    }
  }

  private func running(
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await running { _ in
      try await body()
    } tell: { _, _ in
    }
  }

  private func running(
    _ body: @escaping @Sendable (Reloads) async throws -> Void, tell: @escaping AutomationService.Listener
  ) async throws {
    let reloads = Reloads()
    let service = AutomationService(context, reloads: reloads, time: AutomationClock(), tell: tell)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      defer { group.cancelAll() }
      try await body(reloads)
    }
  }

  /// Waits for a condition. The suite's time limit ends the wait if it never holds.
  private func waitFor(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
  }
}

enum PrivateSettings {
  static func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}
