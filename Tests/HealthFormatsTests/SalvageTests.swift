import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests of truncated zip files.
@Suite struct SalvageTests {
  private let folder: TemporaryFolder
  private let xml = StandardExport.text

  init() throws { folder = try TemporaryFolder() }

  private func read(_ bytes: [UInt8]) throws -> Reading {
    try Reading(try AppleHealthExport(path: try folder.write(bytes, to: "cut.zip")))
  }

  @Test(arguments: ZipBytes.Descriptor.allCases)
  func whatIsWholeIsReadAtEveryCut(descriptor: ZipBytes.Descriptor) throws {
    let expected = try Reading(xml)
    var zip = ZipBytes(descriptor: descriptor)
    zip.add("apple_health_export/workout-routes/route.gpx", Array("<gpx/>".utf8))
    zip.add("apple_health_export/export_cda.xml", Array("<ClinicalDocument/>".utf8))
    let start = zip.bytes.count
    zip.add("apple_health_export/export.xml", Array(xml.utf8))
    var last = 0
    for cut in stride(from: start + 700, through: zip.bytes.count, by: 97) {
      let reading = try read(Array(zip.bytes[..<cut]))
      #expect(!reading.report.isComplete)
      #expect(!reading.survey.isComplete)
      #expect(reading.report.remarks["zip file that ends in the middle: only what is whole was read"]?.count == 1)
      #expect(reading.recordCount >= last)
      last = reading.recordCount
    }
    let whole = try read(zip.bytes)
    #expect(whole.uuids == expected.uuids)
    #expect(!whole.report.isComplete)
  }

  @Test("a table of contents at an offset that needs more than 32 bits is no end in the middle")
  func tableBeyondFourGigabytes() throws {
    var zip = ZipBytes(descriptor: .signed)
    zip.add("apple_health_export/", [])
    zip.add("apple_health_export/export.xml", Array(xml.utf8))
    let bytes = zip.withDirectory(saidToBeAt: 7)
    let reading = try read(bytes)
    #expect(try reading.uuids == Reading(xml).uuids)
    #expect(reading.report.isComplete && reading.survey.isComplete)
    #expect(reading.report.remarks.isEmpty, "\(reading.report.remarks)")
    for cut in 1..<bytes.count - zip.bytes.count {
      #expect(try !read(Array(bytes.dropLast(cut))).report.isComplete, "\(cut)")
    }
  }

  @Test func aCutBeforeTheXMLIsDamage() throws {
    var zip = ZipBytes()
    zip.add("export.xml", Array(xml.utf8))
    for cut in [4, 30, 45, 100] {
      let path = try folder.write(Array(zip.bytes[..<cut]), to: "cut.zip")
      guard case .damagedZip = try #require(throws: ImportError.self, performing: { try AppleHealthExport(path: path) })
      else {
        Issue.record("cut at \(cut)")
        continue
      }
    }
  }

  @Test func aWrongChecksumIsDamageHereToo() throws {
    for descriptor in [ZipBytes.Descriptor.none, .signed] {
      var zip = ZipBytes(descriptor: descriptor)
      zip.add("export.xml", Array(xml.utf8))
      var bytes = zip.bytes
      let value = try #require(bytes.firstRange(of: Array("value=\"6".utf8))).upperBound
      bytes[value - 1] ^= 1
      #expect(throws: ImportError.self) { try read(bytes) }
    }
  }

  @Test func storedFilesAreFoundByTheirSize() throws {
    var zip = ZipBytes(isDeflated: false)
    zip.add("a.txt", Array("nothing".utf8))
    zip.add("export.xml", Array(xml.utf8))
    #expect(try read(zip.bytes).uuids == Reading(xml).uuids)
    #expect(try !read(Array(zip.bytes.dropLast(500))).report.isComplete)
  }

  @Test func aPasswordIsNamedHereToo() throws {
    var zip = ZipBytes(isEncrypted: true)
    zip.add("export.xml", Array(xml.utf8))
    #expect(throws: ImportError.encryptedZip(path: "\(folder.path)/cut.zip")) { try read(zip.bytes) }
  }

  @Test func wholeFilesBesideTheXMLCanBeOpened() throws {
    var zip = ZipBytes(descriptor: .signed)
    zip.add("apple_health_export/export.xml", Array(xml.utf8))
    zip.add("apple_health_export/workout-routes/a.gpx", Array("<gpx/>".utf8))
    zip.add("apple_health_export/../../evil", Array("x".utf8))
    zip.add("apple_health_export/workout-routes/b.gpx", Array("<gpx></gpx>".utf8))
    let path = try folder.write(Array(zip.bytes.dropLast(20)), to: "cut.zip")
    let members = try AppleHealthExport(path: path).folder()
    #expect(members.members.map(\.name) == ["workout-routes/a.gpx"])
    let source = try members.source(of: try #require(members.members.first))
    #expect(try source.prefix(100) == Array("<gpx/>".utf8))
  }

  /// The files were written by another program, some with 64-bit sizes.
  @Test(arguments: ["whole-None", "whole-plain", "whole-signed", "whole-large", "stored", "zip64"])
  func casesOfTheFuzzerAreRead(name: String) throws {
    let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/Corpus/zip-salvage/\(name)").path
    let reading = try Reading(try AppleHealthExport(path: corpus))
    #expect(reading.recordCount == 1)
    #expect(reading.report.end == nil)
    #expect(!reading.report.isComplete)
  }

  /// Every entry found in arbitrary bytes can be read and has the stated size.
  @Test func flippedBytesNeverCrash() throws {
    var generator = SeededGenerator(31)
    for round in 0..<400 {
      var zip = ZipBytes(descriptor: ZipBytes.Descriptor.allCases[round % 4], isDeflated: round % 8 > 0)
      zip.add("workout-routes/a.gpx", Array("<gpx/>".utf8))
      zip.add("export.xml", Array(xml.utf8.prefix(3000)))
      var bytes = zip.bytes
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        // Mostly where headers are.
        let limit = Bool.random(using: &generator) ? 200 : bytes.count
        bytes[Int.random(in: 0..<limit, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
      }
      let path = try folder.write(bytes, to: "flipped.zip")
      guard let contents = try? ZipSalvage.contents(of: path) else { continue }
      for entry in contents.entries {
        let content = try ZipSalvage.source(of: entry, path: path).prefix(1 << 20)
        #expect(content.count == entry.size)
      }
    }
  }
}
