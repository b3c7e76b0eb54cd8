import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests of the recognition of files by their content.
@Suite struct ImportFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func name(_ bytes: [UInt8]) throws -> String {
    switch try ImportFile.recognise(try folder.write(bytes, to: "any name")) {
    case .appleHealth: "apple"
    case .samples(let file as SampleFile): "\(file.format)"
    case .samples(is HealthAutoExport): "hae"
    case .samples(let file as HealthAppTransferFile): "hat \(file.form)"
    case .samples(let file): "\(type(of: file))"
    }
  }

  private func name(_ text: String) throws -> String { try name(Array(text.utf8)) }

  @Test func ourOwnFormats() throws {
    var maker = SampleMaker(seed: 8)
    let samples = maker.samples(20)
    for format in SampleFileTests.formats { #expect(try name(SampleText(samples, format).bytes) == "\(format)") }
    for format in [SampleFile.Format.json, .csv] { #expect(try name(SampleText([], format).bytes) == "\(format)") }
    // As `hpeer show --json` prints them.
    #expect(try name(try CanonicalJSON.encode(samples[0]) + "\n") == "changeFeed")
    #expect(try name(#"{"more":false,"token":"x"}"#) == "changeFeed")
    #expect(try name("\u{FEFF}" + String(decoding: SampleText(samples, .csv).bytes, as: UTF8.self)) == "csv")
  }

  @Test(arguments: [
    #"{"data":{}}"#, #"{"data":{"metrics":[]}}"#, "{\n \"data\" : {\n \"workouts\" : [",
    #"{"workouts":[],"data":{"metrics":["#,
    #"{"data":{"stateOfMind":[]}}"#,
  ])
  func healthAutoExport(text: String) throws {
    #expect(try name(text) == "hae")
  }

  @Test func anAppleExportStaysOne() throws {
    #expect(try name(ExportText(ExportText.record()).text) == "apple")
  }

  @Test(arguments: [
    "{}", "[1]", #"{"data":{"heartbeats":[]},"metadata":{}}"#, #"{"schema_id":"health_bridge.batch.v1"}"#,
    #"{"format":"other","samples":[]}"#, "a,b,c\n1,2,3\n", "{", "text",
  ])
  func otherFilesAreRefused(text: String) throws {
    #expect(throws: ImportError.self) { try name(text) }
  }

  @Test func whatHealthAutoExportKeepsForItselfIsNamed() throws {
    let path = try folder.write(Array("bvx2".utf8) + [0, 1, 2], to: "2024-01-01.hae")
    #expect(throws: SampleFileError.synchronisationFile(path: path)) { try ImportFile.recognise(path) }
  }

  /// The columns have names in the phone's language, dates have no offset, and numbers have no sources.
  @Test(arguments: [
    "Date/Time,Active Energy (kJ),Heart Rate [Min] (count/min)\n2024-11-08 00:00:00,418.4,55\n",
    "\u{FEFF}Fecha/Hora,Energía Activa (kJ)\r\n2024-11-08 00:00:00,418.4\r\n",
    "Workout Type,Start,End,Duration,Energia Ativa (kJ)\nCorrer,2024-11-09 08:00,2024-11-09 08:33,00:33:00,1674\n",
  ])
  func theTablesOfHealthAutoExportAreNamed(text: String) throws {
    let path = try folder.write(Array(text.utf8), to: "auto.csv")
    #expect(throws: SampleFileError.autoExportTable(path: path)) { try ImportFile.recognise(path) }
  }

  @Test(arguments: ["Date/Time\n", "Date/Time,Steps\n2024-11-08,1\n", "Workout Type,Start\n", "a/b/c,Steps (count)\n"])
  func otherTablesAreNotTakenForThem(text: String) throws {
    #expect(throws: ImportError.self) { try name(text) }
  }
}
