import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests that two people's records are kept apart, both by imports and between machines.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PersonTests {
  private static let robin = "1986-05-17"
  private static let kim = "1987-03-01"

  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Returns the path of a person's export on a day of June 2024, with a range of all steps.
  private func export(
    _ birth: String?, sex: String = "HKBiologicalSexNotSet", blood: String = "", day: Int = 15,
    steps: Range<Int> = 0..<20
  ) throws -> String {
    func date(_ minute: Int) -> String {
      "2024-06-0\(1 + minute / 1440) \(String(format: "%02d:%02d", minute / 60 % 24, minute % 60)):00 +0200"
    }
    let (characteristic, type) = ("HKCharacteristicTypeIdentifier", "HKQuantityTypeIdentifierStepCount")
    let me = [("DateOfBirth", birth ?? ""), ("BiologicalSex", sex), ("BloodType", blood)].map {
      #"\#(characteristic)\#($0)="\#($1)""#
    }.joined(separator: " ")
    let records = steps.map { minute in
      let dates = ["creationDate", "startDate", "endDate"].map { #"\#($0)="\#(date(minute))""# }.joined(separator: " ")
      return #" <Record type="\#(type)" sourceName="Phone" unit="count" \#(dates) value="\#(minute)"/>"#
    }
    let lines =
      [#"<?xml version="1.0" encoding="UTF-8"?>"#, #"<HealthData locale="en_DE">"#]
      + [#" <ExportDate value="2024-06-\#(day) 10:00:00 +0200"/>"#, " <Me \(me)/>"] + records + ["</HealthData>"]
    let path = scratch.path + "/export-\(UUID().uuidString).xml"
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func birth(_ host: Host) async throws -> String? {
    try await HealthStore(directory: host.home, create: false).person()[.dateOfBirth]
  }

  private func steps(_ host: Host) async throws -> Int {
    try await host.contents().keys.count { $0.type.shortName == "stepCount" }
  }

  // MARK: Import

  /// Expects that standard output is empty or, if JSON was requested, contains only the error.
  private func expectNoAnswer(_ outcome: Outcome, of arguments: [String]) throws {
    guard arguments.contains("--json") else {
      #expect(outcome.output.isEmpty)
      return
    }
    let schema = try JSONSchema(directory: Build.root + "/docs/reference/schemas")
    #expect(try schema.violations(of: outcome.output, against: "error.json") == [], "\(outcome.output)")
  }

  @Test("another person's export is refused before anything is written, and says what differs")
  func refused() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", export(Self.robin)).status == 0)
    let other = try export(Self.kim, day: 20, steps: 20..<40)
    let before = try await home.deepDigest()
    for arguments in [[], ["--dry-run"], ["--json"], ["--rescan"], ["--snapshot", "--force"]] {
      let outcome = try await home.start(["import"] + arguments + [other]).outcome()
      #expect(outcome.status == 65, "\(arguments)")
      #expect(
        outcome.errors.contains("date of birth \(Self.kim) where this store says \(Self.robin)"), "\(outcome.errors)")
      #expect(outcome.errors.contains("--merge-person"))
      try expectNoAnswer(outcome, of: arguments)
    }
    #expect(try await home.deepDigest() == before)
    #expect(try await birth(home) == Self.robin)
    // The same of what another hpeer exported of that person.
    let kims = scratch.host("kims")
    #expect(try await kims.run("import", other).status == 0)
    for format in ["json", "csv"] {
      let path = scratch.path + "/kim.\(format)"
      #expect(try await kims.run("export", "--format", format, "--output", path).status == 0)
      let outcome = try await home.run("import", path)
      #expect(outcome.status == 65 && outcome.errors.contains(Self.kim), "\(outcome.errors)")
    }
    #expect(try await home.deepDigest() == before)
    let merged = try await home.run("import", "--merge-person", scratch.path + "/kim.json")
    #expect(merged.status == 0, "\(merged.errors)")
    #expect(try await steps(home) == 40)
    #expect(try await home.run("audit").output.contains("person=merged"))
  }

  @Test("whom somebody has confirmed of a JSON or CSV file is remembered as of an export, until that is undone")
  func confirmedFile() async throws {
    let kims = scratch.host("kims")
    // Older than the other's: the store remains Robin's.
    #expect(try await kims.run("import", export(Self.kim, day: 10, steps: 20..<40)).status == 0)
    for format in ["json", "csv"] {
      let path = scratch.path + "/kim.\(format)"
      #expect(try await kims.run("export", "--format", format, "--output", path).status == 0)
      let home = scratch.host("home-\(format)")
      #expect(try await home.run("import", export(Self.robin)).status == 0)
      #expect(try await home.run("import", "--merge-person", path).status == 0)
      #expect(try await birth(home) == Self.robin)
      let again = try await home.run("import", path)
      #expect(again.status == 0, "\(again.errors)")
      let other = scratch.host("other-\(format)")
      #expect(try await other.run("import", export(Self.robin)).status == 0)
      #expect(try await other.run("import", "--merge-person", path).status == 0)
      let undone = try await other.run("import", "--undo")
      #expect(undone.status == 0, "\(undone.errors)")
      #expect(try await other.run("import", path).status == 65)
    }
  }

  @Test("what one side does not say is no difference; a sex or a blood type that differs is")
  func traits() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", export(nil)).status == 0)
    #expect(try await home.run("import", export(Self.robin, blood: "HKBloodTypeONegative", day: 16)).status == 0)
    #expect(try await home.run("import", export(nil, sex: "HKBiologicalSexFemale", day: 17)).status == 0)
    let twin = try await home.run("import", export(Self.robin, sex: "HKBiologicalSexMale", day: 18))
    #expect(twin.status == 65 && twin.errors.contains("sex male where this store says female"), "\(twin.errors)")
    let blood = try await home.run("import", export(Self.robin, blood: "HKBloodTypeABPositive", day: 19))
    #expect(blood.status == 65 && blood.errors.contains("blood type AB+ where this store says O-"), "\(blood.errors)")
  }

  @Test("a corrected date of birth is confirmed once; later exports pass, and so do older ones of whom was confirmed")
  func corrected() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", export(Self.robin)).status == 0)
    let corrected = try export(Self.kim, day: 16, steps: 0..<21)
    #expect(try await home.run("import", "--dry-run", "--merge-person", corrected).status == 0)
    #expect(try await birth(home) == Self.robin)
    #expect(try await home.run("import", corrected).status == 65)
    #expect(try await home.run("import", "--merge-person", corrected).status == 0)
    #expect(try await birth(home) == Self.kim)
    #expect(try await home.run("import", export(Self.kim, day: 17, steps: 0..<22)).status == 0)
    let snapshot = try await home.run("import", "--snapshot", export(Self.kim, day: 18, steps: 0..<23))
    #expect(snapshot.status == 0, "\(snapshot.errors)")
    // From before it was corrected.
    let old = try export(Self.robin, day: 14, steps: 0..<19)
    #expect(try await home.run("import", old).status == 65)
    #expect(try await home.run("import", "--merge-person", old).status == 0)
    #expect(try await home.run("import", export(Self.robin, day: 13, steps: 0..<18)).status == 0)
    #expect(try await birth(home) == Self.kim)
    #expect(try await steps(home) == 23)
  }

  @Test("on a terminal it is a question, and anything but yes is a no")
  func question() async throws {
    let home = scratch.host("home")
    // Whose days count is another question.
    #expect(try await home.run("zone", "Europe/Berlin").status == 0)
    #expect(try await home.run("import", export(Self.robin)).status == 0)
    let other = try export(Self.kim, day: 16, steps: 0..<21)
    for (answer, status) in [("n\n", Int32(65)), ("y\n", 0)] {
      let terminal = try PseudoTerminal(["HPEER_HOME=\(home.home)", Build.hpeer, "import", other])
      try await terminal.text(
        matching: #/1987-03-01\s+where\s+this\s+store\s+says\s+1986-05-17\.\s+Is\s+it\s+the\s+same/#)
      terminal.type(answer)
      #expect(try await terminal.exitStatus() == status)
      #expect(try await birth(home) == (status == 0 ? Self.kim : Self.robin))
    }
  }

  // MARK: Between machines

  /// Pairs `laptop` with `studio` and returns the output of the pairing.
  private func pair(_ laptop: Host, with studio: Host, _ port: Int) async throws -> Outcome {
    let (code, waiting) = try await studio.openWindow()
    let paired = try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(try await waiting.outcome().status == 0)
    return paired
  }

  private func serve(_ name: String, _ export: String) async throws -> (Host, port: Int) {
    let host = scratch.host(name)
    #expect(try await host.run("import", export).status == 0)
    return (host, try await host.serve(["--port", "0", "--no-advertise", "--name", name]).port)
  }

  @Test("another person's machine is refused with exit code 13, nothing is stored, and others are pulled from")
  func anotherMachine() async throws {
    let (kims, kimsPort) = try await serve("kims", export(Self.kim, steps: 20..<40))
    let (studio, studioPort) = try await serve("studio", export(Self.robin))
    let laptop = scratch.host("laptop")
    #expect(try await laptop.run("import", export(Self.robin, steps: 0..<5)).status == 0)
    let stranger = try await pair(laptop, with: kims, kimsPort)
    #expect(stranger.errors.contains("another person"), "\(stranger.errors)")
    let same = try await pair(laptop, with: studio, studioPort)
    #expect(same.errors.contains("the same person"), "\(same.errors)")

    let before = try await laptop.deepDigest()
    for arguments in [[], ["--full"], ["--types", "stepCount"], ["--watch"], ["--json"]] {
      let refused = try await laptop.start(["pull", "--host", "127.0.0.1:\(kimsPort)"] + arguments).outcome()
      #expect(refused.status == 13, "\(arguments) \(refused.errors)")
      #expect(refused.errors.contains("--merge-person"), "\(refused.errors)")
      #expect(!refused.errors.contains("1987") && !refused.errors.contains("1986"))
      try expectNoAnswer(refused, of: arguments)
    }
    #expect(try await laptop.deepDigest() == before)
    let all = try await laptop.run("pull", "--all")
    #expect(all.status == 13, "\(all.errors)")
    #expect(try await steps(laptop) == 20)
    #expect(try await birth(laptop) == Self.robin)
    #expect(try await laptop.run("audit").output.contains("reason=another_person"))
    // Of which of them?
    let unclear = try await laptop.run("pull", "--all", "--merge-person")
    #expect(unclear.status == 2 && unclear.errors.contains("one machine at a time"), "\(unclear.errors)")
    #expect(try await steps(laptop) == 20)
    let compared = try await kims.run("audit").output
    #expect(compared.contains("person=different") && !compared.contains("data.read"), "\(compared)")

    let merged = try await laptop.run("pull", "--host", "127.0.0.1:\(kimsPort)", "--merge-person")
    #expect(merged.status == 0, "\(merged.errors)")
    #expect(try await steps(laptop) == 40)
  }

  @Test("a date of birth that was corrected on one machine is confirmed on the other once")
  func correctedOnOne() async throws {
    let (studio, port) = try await serve("studio", export(Self.robin))
    let laptop = scratch.host("laptop")
    // Into an empty store there is nothing to ask.
    let paired = try await pair(laptop, with: studio, port)
    #expect(!paired.errors.contains("person"), "\(paired.errors)")
    #expect(try await laptop.run("pull").status == 0)
    #expect(try await laptop.run("pull").status == 0)
    let corrected = try export(Self.kim, day: 16, steps: 0..<21)
    #expect(try await studio.run("import", "--merge-person", corrected).status == 0)
    #expect(try await laptop.run("pull").status == 13)
    #expect(try await steps(laptop) == 20)
    let terminal = try PseudoTerminal(["HPEER_HOME=\(laptop.home)", Build.hpeer, "pull"])
    try await terminal.text(
      matching: #/studio\s+has\s+another\s+date\s+of\s+birth[\s\S]*Is\s+it\s+the\s+same\s+person\?\s+\[y\/N\]/#)
    terminal.type("y\n")
    #expect(try await terminal.exitStatus() == 0)
    #expect(try await birth(laptop) == Self.kim)
    for _ in 0..<2 { #expect(try await laptop.run("pull").status == 0) }
    #expect(try await laptop.contents() == studio.contents())
  }

  @Test("where nobody can tell it must be said once, and is remembered")
  func unknown() async throws {
    let (studio, port) = try await serve("studio", export(nil))
    let laptop = scratch.host("laptop")
    #expect(try await laptop.run("import", export(Self.robin, steps: 20..<30)).status == 0)
    let paired = try await pair(laptop, with: studio, port)
    #expect(paired.errors.contains("can't tell whether both machines"), "\(paired.errors)")
    let refused = try await laptop.run("pull")
    #expect(refused.status == 13 && refused.errors.contains("no date of birth"), "\(refused.errors)")
    #expect(try await steps(laptop) == 10)
    #expect(try await laptop.run("pull", "--merge-person").status == 0)
    #expect(try await steps(laptop) == 30)
    #expect(try await laptop.run("pull").status == 0)
    #expect(try await laptop.run("pull", "--full").status == 0)
  }

  @Test("a machine that is followed and becomes another person's is given up, and the others are followed on")
  func followed() async throws {
    let (kims, kimsPort) = try await serve("kims", export(Self.robin))
    let (studio, studioPort) = try await serve("studio", export(Self.robin, steps: 20..<25))
    let laptop = scratch.host("laptop")
    for (host, port) in [(kims, kimsPort), (studio, studioPort)] {
      _ = try await pair(laptop, with: host, port)
      #expect(try await laptop.run("pull", "--host", "127.0.0.1:\(port)").status == 0)
    }
    let following = try laptop.start(["pull", "--watch", "--all"])
    try await following.errors(matching: #/kims: up to date/#)
    try await following.errors(matching: #/studio: up to date/#)
    let other = try export(Self.kim, day: 16, steps: 40..<60)
    #expect(try await kims.run("import", "--merge-person", other).status == 0)
    try await following.errors(matching: #/kims: .*another person/#)
    #expect(try await studio.run("import", export(Self.robin, day: 17, steps: 0..<27)).status == 0)
    try await eventually("the other is followed on") { try await steps(laptop) == 27 ? true : nil }
    following.send(SIGTERM)
    #expect(try await following.outcome().status == 13)
    #expect(try await birth(laptop) == Self.robin)
  }

  @Test("the server's own terminal says whose record it is, and nobody else is told")
  func shown() async throws {
    let studio = scratch.host("studio")
    #expect(try await studio.run("import", export(Self.robin)).status == 0)
    let terminal = try PseudoTerminal([
      "HPEER_HOME=\(studio.home)", Build.hpeer, "serve", "--port", "0", "--no-advertise", "--bind", "127.0.0.1",
    ])
    try await terminal.text(matching: #/born in 1986/#)
    #expect(!terminal.text.contains(Self.robin))
    let port = try await terminal.text(matching: #/127\.0\.0\.1:(\d+)/#).1
    for path in ["status", "pair/v1/hello", "health/types"] {
      let answer = try await studio.sh("curl -sk https://127.0.0.1:\(port)/\(path)")
      #expect(answer.status == 0 && !answer.output.contains("1986"), "\(answer.output)")
    }
    let waiting = try studio.start(["pair", "--wait"])
    try await waiting.errors(matching: #/born in 1986/#)
  }
}
