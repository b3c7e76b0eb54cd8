import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import OperatingSystem
import TestSupport
import Testing

@testable import Destinations

@Suite(.timeLimit(.minutes(5))) struct CommandDestinationTests {
  private let directory: TemporaryDirectory
  private let environment: DestinationEnvironment
  private let batch: DeliveryBatch

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    let store = try HealthStore(directory: directory.path("home"))
    environment = DestinationEnvironment(
      record: RecordReader(store, filter: .everything, zone: try ZoneRules(named: "UTC")),
      secrets: SecretStore(environment: [:]), stateFolder: directory.path("state"))
    var coder = ChangeCoder()
    let samples = DestinationHarnesses.steps(3)
    for sample in samples[..<2] { try coder.add(sample) }
    coder.add(Tombstone(sample: samples[2].reference, deleted: .now))
    batch = DeliveryBatch(changes: coder.changes, startsOver: true)
  }

  private func make(_ script: String, _ values: [String: DestinationSettings.Value] = [:]) throws -> CommandDestination
  {
    let values = values.merging(["command": .list(["sh", "-c", script, "sh", directory.path("out")])]) { $1 }
    return try CommandDestination(
      try DestinationSettings(name: "test", values, of: CommandDestination.description), in: environment)
  }

  private func deliver(_ script: String) async throws {
    _ = try await make(script).deliver(batch, key: DeliveryKey(description: "key-1"))
  }

  @Test("the program reads the feed's lines, deletions first, and knows which delivery it is")
  func input() async throws {
    try await deliver(
      #"cat > "$1"; echo "$HPEER_DELIVERY_KEY $HPEER_CHANGES $HPEER_STARTS_OVER $HPEER_DESTINATION" >> "$1"; echo noise"#
    )
    let lines = try String(contentsOfFile: directory.path("out"), encoding: .utf8).split(separator: "\n")
    try #require(lines.count == 4)
    #expect(lines[0].hasPrefix(#"{"deleted":{"#))
    #expect(lines[1].hasPrefix(#"{"added":{"#) && lines[2].hasPrefix(#"{"added":{"#))
    #expect(lines[3] == "key-1 3 1 test")
    let states = try FileManager.default.contentsOfDirectory(atPath: directory.path("state"))
    #expect(states.isEmpty, "its input is a file without a name")
  }

  @Test("it may read nothing of a large input")
  func unread() async throws {
    let end = try await ChildProgram("/bin/true", arguments: [], variables: [:], folder: directory.path("state"))
      .run(input: [UInt8](repeating: 0x20, count: 3_000_000), variables: [:])
    #expect(end.status == .exit(0) && end.said.isEmpty)
  }

  @Test(
    "its exit status says what a failure means",
    arguments: [
      ("echo one >&2; echo two >&2; exit 3", DeliveryError.temporary(reason: "the program ended with 3: one; two")),
      ("exit 75", .temporary(reason: "the program ended with 75")),
      ("exit 65", .refused(reason: "the program refuses it (65)")),
      ("echo no rights >&2; exit 77", .unusable(reason: "the program cannot work as it is set up (77): no rights")),
      ("kill -9 $$", .temporary(reason: "the program was ended by signal 9")),
    ])
  func status(_ script: String, _ expected: DeliveryError) async throws {
    await #expect(throws: expected) { try await deliver(script) }
  }

  @Test("of what it says without end only the end is kept")
  func noise() async throws {
    let error = await #expect(throws: DeliveryError.self) {
      try await deliver("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo last >&2; exit 1")
    }
    let said = try #require(error?.description)
    #expect(said.hasSuffix("last") && said.utf8.count < 3_000)
  }

  @Test(
    "it is killed with all that it has started when the delivery is cancelled",
    arguments: [
      "(echo started; sleep 1000; :)",
      // In a session of its own, and without what tells of the run, but with its parent.
      "env -i setsid --wait sh -c 'echo started; sleep 1000; :'",
      // Left by its parent.
      "(setsid sh -c 'echo started; sleep 1000; :' &); sleep 1000",
    ])
  func cancelled(_ script: String) async throws {
    let fifo = directory.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    // What it starts has the FIFO open: reading ends when all of that is gone.
    let place = try make("{ \(script); } > '\(fifo)'; :")
    let task = Task { try await place.deliver(batch, key: DeliveryKey(description: "k")) }
    let text = try await onThread { _ in
      let output = FileHandle(fileDescriptor: open(fifo, O_RDONLY), closeOnDealloc: true)
      let first = try output.read(upToCount: 8) ?? Data()
      task.cancel()
      return String(decoding: first + (try output.readToEnd() ?? Data()), as: UTF8.self)
    }
    #expect(text == "started\n")
    await #expect(throws: (any Error).self) { try await task.value }
  }

  @Test("processes that a killed hpeer has left orphaned are killed before the next run; a check leaves them alone")
  func orphaned() async throws {
    let record = directory.path("state/run")
    let orphan = try OrphanedProgram(record: record)
    try await make("exit 0").check()
    #expect(FileManager.default.fileExists(atPath: record))
    try await deliver(#"cp '\#(record)' "$1"; echo " $HPEER_RUN" >> "$1""#)
    #expect(await orphan.ended() == SIGKILL)
    // It has named itself there while it ran.
    let names = try String(contentsOfFile: directory.path("out"), encoding: .utf8).split(whereSeparator: \.isWhitespace)
    #expect(names.count == 2 && names[0] == names[1])
    #expect(!FileManager.default.fileExists(atPath: record))
  }

  @Test("a file that names no run keeps it from nothing", arguments: ["", "1", String(repeating: "A", count: 100_000)])
  func damagedRecord(_ text: String) async throws {
    try FileManager.default.createDirectory(atPath: directory.path("state"), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: directory.path("state/run")))
    try await deliver("exit 0")
  }

  @Test("a check runs it with nothing to do")
  func check() async throws {
    try await make(#"test "$HPEER_CHECK$HPEER_CHANGES" = 10 && ! read -r line"#).check()
    await #expect(throws: DeliveryError.unusable(reason: "the program ended with 2")) {
      try await make("exit 2").check()
    }
  }

  @Test("nothing of this process's environment goes along that may be a secret")
  func variables() async throws {
    setenv("HPEER_TEST_SECRET", "hunter2", 1)
    try await deliver(#"env > "$1""#)
    let text = try String(contentsOfFile: directory.path("out"), encoding: .utf8)
    #expect(!text.contains("hunter2") && text.contains("PATH="))
  }

  @Test(
    "a program that is not there is a mistake in the settings",
    arguments: [[], [""], ["no-such-program-here"], ["/etc"]])
  func missing(_ words: [String]) throws {
    let error = #expect(throws: SettingsError.self) {
      try CommandDestination(
        try DestinationSettings(name: "x", ["command": .list(words)], of: CommandDestination.description),
        in: environment)
    }
    #expect(error?.key == "command")
  }
}
