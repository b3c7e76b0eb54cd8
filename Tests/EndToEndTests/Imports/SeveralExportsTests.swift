import Foundation
import Testing

/// Tests of a folder or zip file with more than one export: none may be skipped silently.
@Suite(.timeLimit(.minutes(5)))
struct SeveralExportsTests {
  private let scratch: Scratch
  private let home: Host

  init() throws {
    scratch = try Scratch()
    home = scratch.host("home")
  }

  /// - Parameter values: The heart rates, at intervals of a minute.
  private func write(
    _ folder: String, exported: String, values: [Int], born: String = "1986-05-06", sex: String = ""
  ) throws {
    let records = values.enumerated().map { minute, value in
      let date = "2024-06-15 10:\(minute + 10):00 +0000"
      return #"<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min""#
        + #" startDate="\#(date)" endDate="\#(date)" value="\#(value)"/>"#
    }
    let characteristic = "HKCharacteristicTypeIdentifier"
    let me = #"<Me \#(characteristic)DateOfBirth="\#(born)" \#(characteristic)BiologicalSex="\#(sex)"/>"#
    let text =
      "<HealthData locale=\"en\">\n<ExportDate value=\"\(exported) 12:00:00 +0000\"/>\n\(me)\n"
      + records.joined(separator: "\n") + "\n</HealthData>\n"
    let path = "\(scratch.path)/Downloads/\(folder)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/export.xml"))
  }

  @Test("both are read, the newest last")
  func both() async throws {
    // The older has more in it, and so the larger XML.
    try write("b_old", exported: "2024-07-01", values: Array(60..<75))
    try write("a_new", exported: "2024-08-01", values: Array(60..<72) + [])
    let told = try await home.run("import", scratch.path + "/Downloads")
    #expect(told.status == 0, "\(told.errors)")
    #expect(
      told.errors.contains(
        "2 exports, read in this order: b_old/export.xml of 2024-07-01T12:00:00Z, a_new/export.xml of 2024-08-01"),
      "\(told.errors)")
    #expect(told.errors.contains("3 samples of earlier exports are not in this one"), "\(told.errors)")
    let again = try await home.run("import", "--rescan", "--json", scratch.path + "/Downloads")
    let object = try again.json()
    #expect(object["added"] as? Int == 0)
    #expect(
      (object["exports"] as? [[String: Any]])?.compactMap { $0["place"] as? String } == [
        "b_old/export.xml", "a_new/export.xml",
      ])
    // Each is known by its bytes.
    let known = try await home.run("import", scratch.path + "/Downloads")
    #expect(known.output.hasPrefix("0 samples added: these very exports were imported on "), "\(known.output)")
    #expect(known.errors.contains("2 exports, read in this order: b_old/export.xml of"), "\(known.errors)")
  }

  @Test("of two persons neither is")
  func ofTwoPersons() async throws {
    try write("a", exported: "2024-07-01", values: [60])
    try write("b", exported: "2024-08-01", values: [61], born: "1987-01-02")
    let told = try await home.run("import", scratch.path + "/Downloads")
    #expect(told.status == 65)
    #expect(
      told.errors.contains(
        "Downloads holds 2 exports, of which a/export.xml and b/export.xml do not agree on the person's date of birth"),
      "\(told.errors)")
    #expect(try await home.sampleCount() == 0)
  }

  @Test("exports in folders of one name are told apart")
  func ofOneName() async throws {
    try write("a/apple_health_export", exported: "2024-07-01", values: [60])
    try write("b/apple_health_export", exported: "2024-08-01", values: [61], born: "1987-01-02")
    let told = try await home.run("import", scratch.path + "/Downloads")
    #expect(told.status == 65)
    let places = ["a", "b"].map { "\($0)/apple_health_export/export.xml" }.joined(separator: " and ")
    #expect(told.errors.contains("2 exports, of which \(places) do not agree"), "\(told.errors)")
  }

  @Test("where one is of another person than the store, none is read; confirmed or imported before, all are")
  func ofAnotherPersonThanTheStore() async throws {
    try write("own", exported: "2024-06-20", values: [60], sex: "HKBiologicalSexMale")
    #expect(try await home.run("import", scratch.path + "/Downloads").status == 0)
    try FileManager.default.removeItem(atPath: scratch.path + "/Downloads")
    let before = try await home.deepDigest()
    // A twin's: only the later one says so.
    try write("a", exported: "2024-07-01", values: [60, 61])
    try write("b", exported: "2024-08-01", values: [60, 61, 62], sex: "HKBiologicalSexFemale")
    let refused = try await home.run("import", scratch.path + "/Downloads")
    #expect(refused.status == 65)
    #expect(refused.errors.contains("sex female where this store says male"), "\(refused.errors)")
    #expect(try await home.deepDigest() == before)
    let merged = try await home.run("import", "--merge-person", scratch.path + "/Downloads")
    #expect(merged.status == 0, "\(merged.errors)")
    // What was corrected since is no reason not to know them.
    try FileManager.default.removeItem(atPath: scratch.path + "/Downloads")
    try write("own", exported: "2024-06-20", values: [60], sex: "HKBiologicalSexMale")
    try write("own_again", exported: "2024-06-20", values: [60], sex: "HKBiologicalSexMale")
    let known = try await home.run("import", scratch.path + "/Downloads")
    #expect(known.status == 0, "\(known.errors)")
  }
}
