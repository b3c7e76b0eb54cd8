import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests of the table of codes, and of files that replace it for some types.
@Suite struct FHIRMapTests {
  private static let header = "type\tcategory\tprofile\tunit\tucum\tsystem\tcode\tdisplay\n"

  private func problem(_ text: String) -> FHIRMapError? {
    do {
      _ = try FHIRMap(table: Array(text.utf8), path: "codes.tsv")
      return nil
    } catch {
      return error
    }
  }

  @Test func theBuiltInTableHasEveryQuantityWithAUnit() {
    for entry in SampleTypeCatalogue.healthKit.entries where entry.kind == .quantity {
      let unit = FHIRMap.standard[entry.type]?.unit
      #expect(unit != nil, "\(entry.type)")
      #expect(UnitConversion.convert(1, from: entry.canonicalUnit ?? "", to: unit ?? "") != nil)
    }
    let known = Set(SampleTypeCatalogue.healthKit.entries.map(\.type))
    #expect(FHIRMap.standard.types.allSatisfy(known.contains))
    #expect(
      FHIRMap.standard[SampleType("HKQuantityTypeIdentifierBodyMass")]?.codings.map(\.code) == [
        "29463-7", "3141-9", "27113001",
      ])
  }

  @Test func aFileTakesThePlaceOfWhatItNames() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let path = folder.path("codes.tsv")
    let type = SampleType("HKQuantityTypeIdentifierStepCount")
    let own = SampleType("hae.mood")
    try Data(
      ("# ours\r\n" + Self.header.replacing("\n", with: "\r\n")
        + "\(type)\tactivity\t\tcount\t{steps}\thttp://loinc.org\t41950-7\tNumber of steps in 24 hour Measured\n\n"
        + "\(own)\t\t\t\t\turn:oid:1.2.3\tM 1\tMood\n").utf8
    ).write(to: URL(filePath: path))
    let map = try FHIRMap.standard.overridden(byFile: path)
    #expect(map[type]?.codings.map(\.code) == ["41950-7"])
    #expect(map[own]?.codings.map(\.code) == ["M 1"])
    let rate = SampleType("HKQuantityTypeIdentifierHeartRate")
    #expect(map[rate] == FHIRMap.standard[rate])
    #expect(throws: FHIRMapError.unreadable(path: folder.path("none"))) {
      try FHIRMap.standard.overridden(byFile: folder.path("none"))
    }
  }

  @Test(arguments: [
    ("", 1, "header"), ("a\tb\n", 1, "header"), (header + "a\tb\n", 2, "2 columns"),
    (header + "a b \t\t\t\t\t\t\t\n", 2, "type"), (header + "\t\t\t\t\t\t\t\n", 2, "type"),
    (header + "x\tvital\t\t\t\t\t\t\n", 2, "category"), (header + "x\t\tprofile\t\t\t\t\t\n", 2, "profile"),
    (header + "x\t\t\tm\t\t\t\t\n", 2, "ucum"), (header + "x\t\t\t\tm\t\t\t\n", 2, "unit"),
    (header + "x\t\t\tm\tm m\t\t\t\n", 2, "ucum"), (header + "x\t\t\tm\tdB[SPL\t\t\t\n", 2, "ucum"),
    (header + "x\t\t\t\t\tloinc\t1\tOne\n", 2, "system"),
    (header + "x\t\t\t\t\thttp://loinc.org\t1  2\tOne\n", 2, "code"),
    (header + "x\t\t\t\t\thttp://loinc.org\t1\t\n", 2, "all or none"),
    (header + "x\t\t\t\t\thttp://loinc.org\t1\t \n", 2, "display"),
    (header + "x\t\t\t\t\turn:a:b\t1\tOne\nx\t\t\t\t\turn:a:b\t1\tOne\n", 3, "already"),
    (header + "x\t\t\t\t\turn:a:b\t1\tOne\nx\texam\t\t\t\turn:a:b\t2\tTwo\n", 3, "differ"),
    (header + "x\t\t\t\t\t\t\t\nx\t\t\t\t\turn:a:b\t1\tOne\n", 3, "already"),
    (header + "x\t\t\t\t\turn:hpeer:fhir:types\t1\tOne\n", 2, "itself"),
    (header + "\nHKQuantityTypeIdentifierStepCount\t\t\tkg\tkg\t\t\t\n", 3, "converted"),
  ])
  func whatIsWrongIsNamedWithItsLine(text: String, line: Int, detail: String) {
    guard case .malformed(let path, let found, let reason) = problem(text) else {
      Issue.record("no error: \(text)")
      return
    }
    #expect(path == "codes.tsv")
    #expect(found == line)
    #expect(reason.contains(detail), "\(reason)")
  }

  @Test func hostileFilesAreRefused() {
    #expect(problem(String(repeating: "a", count: 2 << 20)) == .tooLarge(path: "codes.tsv"))
    let invalid = Array(Self.header.utf8) + [0xFF, 0xFE, 0x0A]
    #expect(throws: FHIRMapError.self) { try FHIRMap(table: invalid, path: "codes.tsv") }
    #expect(problem(Self.header + "x\0\t\t\t\t\t\t\t\n") != nil)
    #expect(problem(Self.header + String(repeating: "\t", count: 100_000)) != nil)
  }

  @Test func decimalsAreShiftedWithoutError() {
    #expect(FHIRUnits.shifted(0.07, by: 2) == 7)
    #expect(FHIRUnits.shifted(0.29, by: 2) == 29)
    #expect(FHIRUnits.shifted(1e-7, by: 2) == 1e-5)
    #expect(FHIRUnits.shifted(-12.5, by: -2) == -0.125)
    #expect(FHIRUnits.shifted(.greatestFiniteMagnitude, by: 2) == .infinity)
    #expect(FHIRUnits.shifted(.nan, by: 2).isNaN)
  }
}
