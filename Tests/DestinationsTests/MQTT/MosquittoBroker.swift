import Foundation
import Synchronization
import TestSupport

/// A real broker on its own port that ends with the last reference to it. It can be killed and restarted.
final class MosquittoBroker: Sendable {
  static let program = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  static let missing: String = "mosquitto is not installed: scripts/setup --tests"
  static var isInstalled: Bool { program != nil && FileManager.default.isExecutableFile(atPath: subscriber) }
  private static let subscriber = "/usr/bin/mosquitto_sub"

  struct Failure: Error {}

  let port: Int
  let directory: TemporaryDirectory
  private let process = Mutex<Process?>(nil)

  /// - Parameter settings: Lines of mosquitto.conf(5) for the listener. If `allow_anonymous` isn't among them,
  /// anonymous clients are allowed. `DIR` is the directory that contains `files`.
  init(_ settings: [String] = [], files: [String: String] = [:]) throws {
    directory = try TemporaryDirectory()
    port = try TCPSocket.freePort()
    var lines = ["user root", "listener \(port) 127.0.0.1"]
    if !settings.contains(where: { $0.hasPrefix("allow_anonymous") }) { lines.append("allow_anonymous true") }
    lines += settings.map { $0.replacing("DIR", with: directory.path) }
    for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: directory.path(name))) }
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: directory.path("m.conf")))
  }

  deinit { kill() }

  /// Starts the broker and waits about 0.2 s until it answers.
  func start() throws {
    let process = Process()
    process.executableURL = Self.program.map { URL(filePath: $0) }
    process.arguments = ["-c", directory.path("m.conf")]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.runUnblocked()
    self.process.withLock { $0 = process }
    for _ in 0..<500 {
      if let socket = TCPSocket.connect(to: port) {
        Glibc.close(socket)
        return
      }
      guard process.isRunning else { throw Failure() }
      usleep(10_000)
    }
    throw Failure()
  }

  func kill() {
    process.withLock { process in
      guard let running = process else { return }
      Glibc.kill(running.processIdentifier, SIGKILL)
      running.waitUntilExit()
      process = nil
    }
  }

  /// Returns the retained messages by topic, as reported by mosquitto_sub. Takes a second.
  func retained(_ options: [String] = [], below topic: String = "#") throws -> [String: String] {
    let process = Process()
    // Its own limit is a signal that may be blocked here, and in what is started from here.
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments =
      [
        "-s", "KILL", "1", Self.subscriber, "-h", "127.0.0.1", "-p", String(port), "-t", topic, "--retained-only", "-F",
        "%t\t%p",
      ]
      + options
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.runUnblocked()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Dictionary(
      text.split(separator: "\n").map { line in
        let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
        return (parts[0], parts.count > 1 ? parts[1] : "")
      }, uniquingKeysWith: { $1 })
  }
}

/// A certificate authority for a test, and the certificates that it has signed.
struct TestAuthority {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
      "/CN=Test authority", "-keyout", directory.path("ca.key"), "-out", directory.path("ca.pem"))
  }

  var certificate: String { directory.path("ca.pem") }

  /// - Parameter names: The subject alternative names, such as `DNS:localhost`.
  func sign(_ name: String, names: String) throws -> (certificate: String, key: String) {
    let (key, request, certificate) = (
      directory.path("\(name).key"), directory.path("\(name).csr"), directory.path("\(name).pem")
    )
    try openssl(
      "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)", "-addext",
      "subjectAltName=\(names)", "-keyout", key, "-out", request)
    try openssl(
      "x509", "-req", "-in", request, "-CA", directory.path("ca.pem"), "-CAkey", directory.path("ca.key"),
      "-CAcreateserial", "-days", "2", "-copy_extensions", "copy", "-out", certificate)
    return (certificate, key)
  }

  private func openssl(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.runUnblocked()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw MosquittoBroker.Failure() }
  }
}
