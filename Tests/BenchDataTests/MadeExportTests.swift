import BenchData
import Foundation
import TestSupport
import Testing

@Suite struct MadeExportTests {
  private static let records = 3_000
  private let directory: TemporaryDirectory
  private var folder: String { directory.path }

  init() throws { directory = try TemporaryDirectory() }

  /// Returns the lines of an export's XML.
  private func lines(
    _ changes: Set<MadeExport.Change>? = nil, records: Int = records, _ change: (inout MadeExport) -> Void = { _ in }
  ) throws -> [String] {
    var export = MadeExport(records: records, changes: changes)
    change(&export)
    let path = "\(folder)/\(UUID().uuidString).xml"
    defer { unlink(path) }
    let summary = try export.write(to: path)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.utf8.count == Int(summary.bytes))
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.count { $0.hasPrefix(" <Record ") } == summary.records)
    return lines
  }

  /// Returns the records without the device addresses, which differ in every export.
  private func records(_ lines: [String]) -> [String] {
    lines.filter { $0.hasPrefix(" <Record ") }.map { $0.replacing(#/HKDevice: 0x[0-9a-f]+/#, with: "") }
  }

  private func type(_ record: String) -> String { record.split(separator: "\"")[1].description }

  @Test("the same arguments give the same file, as XML and in a zip file, another seed another")
  func seeded() throws {
    let one = MadeExport(records: 1_000)
    for name in ["a.zip", "b.zip", "a.xml"] { _ = try one.write(to: "\(folder)/\(name)") }
    _ = try MadeExport(records: 1_000, seed: 2).write(to: "\(folder)/other.xml")
    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")) }
    #expect(try bytes("a.zip") == bytes("b.zip"))
    #expect(try bytes("a.xml") != bytes("other.xml"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["unzip", "-p", "\(folder)/a.zip", "apple_health_export/export.xml"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    #expect(try pipe.fileHandleForReading.readToEnd() == bytes("a.xml"))
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test("about as many records as asked for and as large as Apple's, a run for each type, each row its own address")
  func shape() throws {
    let lines = try lines()
    let found = records(lines)
    #expect((Self.records * 97 / 100...Self.records * 103 / 100).contains(found.count))
    #expect((380...520).contains(lines.reduce(0) { $0 + $1.utf8.count + 1 } / found.count))
    let types = found.map(type)
    let runs = zip(types, types.dropFirst()).count { $0 != $1 } + 1
    #expect(runs == Set(types).count)
    let addresses = lines.filter { $0.hasPrefix(" <Record ") }.compactMap { $0.firstMatch(of: #/0x[0-9a-f]+/#)?.output }
    #expect(Set(addresses).count > addresses.count * 9 / 10)
    let offsets = lines.compactMap { $0.firstMatch(of: #/endDate="[^"]*([+-]\d{4})"/#)?.output.1 }
    #expect(Set(offsets) == ["+0200"])
    for element in [
      "Correlation ", "Workout ", "WorkoutEvent", "WorkoutActivity", "WorkoutRoute", "ActivitySummary", "Me ",
      "Audiogram",
      "VisionPrescription", "ClinicalRecord",
    ] {
      #expect(lines.contains { $0.contains("<\(element)") }, "no \(element)")
    }
    #expect(lines.contains { $0.contains("<InstantaneousBeatsPerMinute bpm=") })
    #expect(lines.last == "</HealthData>")
    let described = lines.count { $0.hasPrefix("  <MetadataEntry") }
    #expect((found.count / 5...found.count / 2).contains(described))
  }

  @Test("some types ascend and some descend; reordered is the other way round, of the same records")
  func order() throws {
    func starts(_ records: [String], _ name: String) -> [Substring] {
      records.filter { type($0).hasSuffix(name) }.compactMap { $0.firstMatch(of: #/startDate="([^"]*)"/#)?.output.1 }
    }
    let (first, other) = (records(try lines()), records(try lines([.reordered])))
    #expect(Set(first) == Set(other))
    for name in ["ActiveEnergyBurned", "BasalEnergyBurned"] {
      #expect(starts(first, name) == starts(other, name).reversed())
    }
    let ascends = ["ActiveEnergyBurned", "BasalEnergyBurned"].map { starts(first, $0) == starts(first, $0).sorted() }
    #expect(Set(ascends) == [true, false])
  }

  @Test("a later export has what was there, and what differs is what was asked for")
  func later() throws {
    let first = Set(records(try lines()))
    #expect(Set(records(try lines([]))) == first)
    let new = Set(records(try lines([.new])))
    #expect(first.isSubset(of: new))
    #expect((Self.records / 200...Self.records / 50).contains(new.count - first.count))
    let fewer = Set(records(try lines([.deleted])))
    #expect(fewer.isSubset(of: first))
    #expect((Self.records / 400...Self.records / 30).contains(first.count - fewer.count))
    #expect(Set(records(try lines([.renamed])).map { $0.replacing(" Ultra\"", with: "\"") }) == first)
    let miles = records(try lines([.units]))
    #expect(miles.contains { $0.contains("unit=\"mi\"") } && !miles.contains { $0.contains("unit=\"km\"") })
    let winter = try lines([.offset])
    #expect(!winter.contains { $0.contains("+0200\"") } && winter.contains { $0.contains("+0100\"") })
  }

  @Test("twins are there twice, and defects are there")
  func flaws() throws {
    let twins = records(try lines { $0.hasTwins = true })
    #expect(twins.count > Set(twins).count)
    let defective = try lines { $0.hasDefects = true }
    #expect(defective.contains { $0.contains("<Mood") })
  }
}
