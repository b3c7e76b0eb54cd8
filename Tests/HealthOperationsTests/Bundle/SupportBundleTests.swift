import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerProtocol
import TestSupport
import Testing

@testable import HealthOperations
@testable import PeerTrust

/// Tests that a support bundle, which goes to strangers, contains nothing confidential.
@Suite(.timeLimit(.minutes(5))) struct SupportBundleTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  /// Confidential texts, one for every place in which a person, a device or another machine can put text.
  private static let secrets = [
    "TellSource", "TellDevice", "TellMetadata", "TellFile", "TellClient", "TellServer", "TellHost", "TellDestination",
    "TellHeader", "TellValue", "TellToken", "TellPath", "TellAutomation", "TellProgram", "TellVariable", "TellName",
    "TellSecret", "TellReason", "TellLetter", "TellDialect", "717171717", "1987-03-01", "HeartRate", "StepCount",
    "heartRate",
  ]

  /// Returns the name, or an empty text if the name is so short that it may be a part of any word.
  private static func long(_ name: String) -> String { name.count < 8 ? "" : name }

  private func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

  /// - Returns: Further texts that must not be in the bundle.
  private func fill() async throws -> [String] {
    let record =
      #" <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="TellSource" sourceVersion="1" unit="count/min""#
      + #" device="&lt;&lt;HKDevice: 0x1&gt;, name:TellDevice&gt;" creationDate="2024-06-15 10:00:00 +0200""#
      + #" startDate="2024-06-15 10:00:00 +0200" endDate="2024-06-15 10:00:00 +0200" value="717171717">"#
      + #"<MetadataEntry key="TellMetadata" value="TellMetadata"/></Record>"#
    let text = AppleExportText(heartRates: 3, dateOfBirth: "1987-03-01").text
      .replacing("</HealthData>", with: record + "\n</HealthData>")
    _ = try await home.importer(try home.file("TellFile.xml", text)).run(into: home.store)
    try await home.store.activities.end("pull:TellServer", failure: "TellReason at TellHost", event: nil)
    try await home.store.deliveries.noteFailure("TellReason", waiting: nil, "webhook:TellDestination")

    let registry = try await home.home.openRegistry()
    let id = try #require(PeerID(bytes: bytes(0xC1, 16)))
    let fingerprint = try #require(Fingerprint(bytes: bytes(0xF1, 32)))
    let token = try #require(BearerToken(bytes: bytes(0xA1, 32)))
    try await registry.addClient(
      PairedClient(
        id: id, name: "TellClient", tokenHash: token.hash, certificateFingerprint: fingerprint, method: .spake2,
        pairedAt: Date(), expiresAt: Date() + 1_000_000))
    for (byte, dialect) in [(UInt8(0xD1), "hpeer"), (0xD2, "TellDialect")] {
      try await registry.addServer(
        ServerRecord(
          id: try #require(PeerID(bytes: bytes(byte, 16))), name: "TellServer", fingerprint: fingerprint,
          credential: BearerCredential(token), dialect: dialect, host: "TellHost.example", port: 7171))
    }
    let identity = try await home.home.identity()

    try FileManager.default.createDirectory(
      atPath: home.home.directory + "/destinations/TellDestination", withIntermediateDirectories: true)
    try Data("TellLetter".utf8).write(
      to: URL(filePath: home.home.directory + "/destinations/TellDestination/refused.jsonl"))
    try home.home.editSettings { _ in
      """
      # TellName wrote this
      [serve]
      port = 9000
      name = "TellName"
      bind = "10.9.8.7"

      [destination.TellDestination]
      kind = "webhook"
      url = "https://TellHost.example/TellPath"
      method = "PUT"
      gzip = true
      headers = { X-TellHeader = "TellValue" }
      token = "env:TellToken"
      types = ["heartRate"]
      sources = ["TellSource"]

      [automation.TellAutomation]
      when = "threshold"
      type = "heartRate"
      above = 717171717
      do = "command"
      command = ["/bin/TellProgram", "TellSecret"]
      environment = { TellVariable = "TellSecret" }

      """
    }
    return [
      id.hex, fingerprint.hex, token.hash.tokenID, identity.fingerprint.hex, identity.id.hex, identity.id.short,
      "BEGIN",
      home.home.directory, Self.long(Hostname.short), Self.long(NSUserName()), "10.9.8.7", "example",
      home.store.id.uuidString.lowercased(),
    ]
  }

  @Test("nothing of a person, of health, of other machines, and no secret; but what is needed to help")
  func nothingTold() async throws {
    let others = try await fill()
    let bundle = SupportBundle(
      home.home, version: "9.8.7", findings: [.init(id: "disk.low", severity: "warning")])
    let files = try await bundle.files()
    for file in files {
      let text = String(decoding: file.content, as: UTF8.self)
      for secret in Self.secrets + others where !secret.isEmpty {
        #expect(
          text.range(of: secret, options: .caseInsensitive) == nil || file.name.hasSuffix("README.txt"),
          "\(secret) is in \(file.name)")
      }
    }
    func object(_ name: String) throws -> [String: Any] {
      let file = try #require(files.first { $0.name == "hpeer-bundle/\(name).json" })
      return try #require(try JSONSerialization.jsonObject(with: Data(file.content)) as? [String: Any])
    }
    #expect(try object("program")["version"] as? String == "9.8.7")
    #expect((try object("machine")["kernel"] as? [String])?.first == "Linux")
    #expect(((try object("machine")["files"] as? [String: Any])?["store.sqlite"] as? Int ?? 0) > 0)
    let shape = try #require(try object("store")["shape"] as? [String: Any])
    #expect((shape["rows"] as? [String: Int])?["sample"] ?? 0 >= 4)
    #expect((shape["events"] as? [[String: String]])?.contains { $0["name"] == "import" } == true)
    #expect(try object("peers")["servers"] as? [String: Int] == ["hpeer": 1, "other": 1])
    let settings = try object("settings")
    #expect(settings["state"] as? String == "read")
    let destination = try #require((settings["destinations"] as? [[String: Any]])?.first)
    #expect(destination["kind"] as? String == "webhook")
    #expect(
      destination["settings"] as? [String: String]
        == ["url": "set", "method": "PUT", "gzip": "true", "headers": "set", "token": "set"])
    #expect((settings["automations"] as? [[String: Any]])?.first?["kind"] as? String == "threshold")
    let command = try #require((settings["commands"] as? [[String: Any]])?.first)
    #expect(command["options"] as? Int == 3 && command["settings"] as? [String: String] == ["port": "9000"])
  }

  @Test("a mistake in the settings is told by its line, a damaged store by that")
  func damaged() async throws {
    let home = try TestHome()
    let other = Home(path: home.directory.path("other"), environment: [:])
    try PrivateFile.makeDirectory(other.directory)
    try Data(String(repeating: "TellDamage", count: 1000).utf8).write(
      to: URL(filePath: other.directory + "/store.sqlite"))
    try Data("[serve]\nport = TellMistake\n".utf8).write(to: URL(filePath: other.settingsPath))
    let files = try await SupportBundle(other, version: "1", findings: []).files()
    let text = files.map { String(decoding: $0.content, as: UTF8.self) }.joined()
    #expect(!text.contains("Tell"))
    #expect(text.contains(#""state" : "damaged""#) && text.contains(#""state" : "unreadable""#))
    #expect(text.contains(#""line" : 2"#))
  }

  @Test("a file for its owner alone, never in the place of another", arguments: ["bundle.tar.gz", "bundle.tar.zst"])
  func written(name: String) async throws {
    let path = home.directory.path(name)
    let bundle = SupportBundle(home.home, version: "1", findings: [])
    try await bundle.write(to: path)
    #expect(PrivateFile.mode(path) == 0o600)
    if name.hasSuffix("gz") {
      let listed = await CommandRunner.run("tar", ["-tzf", path])
      #expect(listed.output?.split(separator: "\n").count == 7)
    }
    await #expect(throws: ExportError.alreadyThere(path: path)) { try await bundle.write(to: path) }
  }
}
