import Foundation
import TestSupport
import Testing

/// Tests that the secrets that settings refer to appear in no command, output, log or stored file.
@Suite("Secrets in settings", .timeLimit(.minutes(5)))
struct SettingsSecretsTests {
  private let sampled: SampledHome
  private var scratch: Scratch { sampled.scratch }
  private var home: Host { sampled.host }

  /// The secrets, by the kind of their reference.
  private static let secrets = ["file": "Xyzzy0123456789fromafile", "env": "Plugh9876543210fromoutside"]
  private static let variable = ["TELLTALE_TOKEN": secrets["env"] ?? ""]

  init() async throws { sampled = try await SampledHome() }

  @Test("are in no arguments, no environment of a program that is run, no output, no report and no file")
  func nowhere() async throws {
    let kept = scratch.path + "/password"
    try Data((Self.secrets["file"] ?? "").utf8).write(to: URL(filePath: kept))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: kept)
    let seen = scratch.path + "/seen"
    let script = scratch.path + "/look.sh"
    // What all processes of this home look like from outside while it delivers, and this program from inside.
    let look = """
      #!/bin/sh
      cat > /dev/null
      { cat "/proc/$PPID/cmdline" "/proc/$$/cmdline" "/proc/$$/environ"; echo; } >> '\(seen)'
      exit 77

      """
    try Data(look.utf8).write(to: URL(filePath: script))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
    let settings = """
      [destination.look]
      kind = "command"
      command = ["\(script)"]

      [destination.hook]
      kind = "webhook"
      url = "http://127.0.0.1:1/"
      token = "env:TELLTALE_TOKEN"

      [destination.dav]
      kind = "webdav"
      url = "http://127.0.0.1:1/"
      username = "ada"
      password = "file:\(kept)"

      """
    let config = home.home + "/config.toml"
    try Data(settings.utf8).write(to: URL(filePath: config))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: config)

    var said: [String] = []
    let bundle = scratch.path + "/bundle.tar.gz"
    for arguments in [
      ["sync"], ["destination", "test", "hook"], ["destination", "test", "dav"], ["status", "--json"],
      ["destination", "list", "--json"], ["destination", "status", "--json"], ["destination", "history", "hook"],
      ["destination", "history", "dav", "--json"], ["audit", "--json"], ["doctor", "--bundle", bundle],
    ] {
      let outcome = try await home.start(arguments, environment: Self.variable).outcome()
      said.append("\(arguments): \(outcome.output)\n\(outcome.errors)")
    }
    // Each was tried, so that there was something to be said.
    for part in ["look takes nothing", "hook could not be", "dav could not be"] {
      #expect(said[0].contains(part), "\(said[0])")
    }
    #expect(said[1].hasSuffix("is the port right?\n"), "\(said[1])")
    let inside = try String(decoding: Data(contentsOf: URL(filePath: seen)), as: UTF8.self)
    #expect(inside.contains("sync") && inside.contains("HPEER_DELIVERY_KEY"))
    said.append(inside)
    let unpacked = try await home.sh("cd '\(scratch.path)' && tar -xzf bundle.tar.gz && cat hpeer-bundle/*")
    #expect(unpacked.status == 0, "\(unpacked.errors)")
    said.append(unpacked.output)
    for text in said { for secret in Self.secrets.values { #expect(!text.contains(secret), "\(text)") } }

    let files = try #require(FileManager.default.enumerator(atPath: home.home)).compactMap { $0 as? String }
    for name in files {
      guard let data = FileManager.default.contents(atPath: home.home + "/" + name) else { continue }
      for secret in Self.secrets.values { #expect(data.range(of: Data(secret.utf8)) == nil, "\(name)") }
    }
  }
}
