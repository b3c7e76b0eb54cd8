import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests that the reader can read the output of `scripts/sample-export`.
@Suite struct SampleExportTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("scripts/sample-export").path

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func export(_ arguments: String...) throws -> Reading {
    let path = "\(folder.path)/\(UUID().uuidString).zip"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", Self.script] + arguments + [path]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return try Reading(try AppleHealthExport(path: path))
  }

  @Test func everythingInItIsUnderstood() throws {
    let reading = try export("--records", "3000")
    #expect(reading.report.isComplete)
    #expect(reading.report.skipped.isEmpty)
    #expect(reading.report.remarks.isEmpty)
    #expect(reading.report.version == 14)
    #expect((2700...3300).contains(reading.recordCount))
    #expect(reading.nestedCount > 0)
    #expect(
      Set(reading.samples.map(\.payload.kind)) == ["quantity", "category", "correlation", "workout", "workoutRoute"])
    #expect(reading.readings.count > 5)
  }

  @Test func theLaterExportHoldsTheEarlierOne() throws {
    let earlier = try export("--records", "3000")
    let later = try export("--records", "3000", "--later")
    #expect(earlier.report.utcOffset != later.report.utcOffset)
    #expect(earlier.uuids.isSubset(of: later.uuids))
    let added = later.uuids.count - earlier.uuids.count
    // What a day brings.
    #expect((100...200).contains(added))
    // Nothing is left of the device addresses, so what is the same is equal.
    let now = Dictionary(later.samples.map { ($0.uuid, $0) }, uniquingKeysWith: { first, _ in first })
    #expect(earlier.samples.allSatisfy { now[$0.uuid] == $0 })
  }

  @Test func anotherSeedIsAnotherPerson() throws {
    let one = try export("--records", "300")
    let other = try export("--records", "300", "--seed", "2")
    #expect(one.uuids.intersection(other.uuids).count < one.uuids.count / 10)
  }
}
