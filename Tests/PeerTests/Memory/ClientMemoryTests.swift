import Foundation
import HealthModel
import HealthStore
import NIOCore
import PeerProtocol
import PeerTrust
import Testing

/// Tests of the memory of the built program, which runs as its own process.
@Suite("What a hostile server makes a client take", .timeLimit(.minutes(20)))
struct ClientMemoryTests {
  /// The maximum memory: what `ClientLimits` allows, plus the program's own code and tables.
  private static let most = 172 << 20
  private static let hpeer = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("hpeer").path

  /// A script that runs hpeer and prints its peak resident memory. The extra process is needed because a process's
  /// peak starts with its parent's memory.
  private static let script = """
    import resource, subprocess, sys
    result = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    print(result.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, result.stdout, result.stderr)
    """

  /// Runs a command of a new client against a server with the given answers.
  private static func run(
    _ command: String..., answer: @escaping @Sendable (_ request: String, _ outbound: ByteOutbound) async throws -> Void
  ) async throws -> (status: Int, peak: Int, text: String) {
    let identity = try await makeIdentity()
    return try await withCannedServer(tls: identity, answer: answer) { port, _ in
      try await withTemporaryDirectory { home in
        let registry = try await PeerRegistry.open(in: home)
        try await registry.addServer(
          ServerRecord(
            id: identity.id, name: "studio", fingerprint: identity.fingerprint, credential: BearerCredential(.random()),
            host: "127.0.0.1", port: UInt16(port)))
        _ = try HealthStore(directory: home.path)
        let outcome = try await Command.run(
          "/usr/bin/env", ["HPEER_HOME=\(home.path)", "python3", "-c", script, hpeer] + command + ["studio"])
        let words = outcome.output.split(separator: " ", maxSplits: 2).map(String.init)
        try #require(words.count == 3, "\(outcome)")
        return (try #require(Int(words[0])), try #require(Int(words[1])) * 1024, words[2])
      }
    }
  }

  private static func head(_ type: String) -> ByteBuffer {
    ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n")
  }

  private static func chunks(_ bytes: [UInt8], _ outbound: ByteOutbound) async throws {
    var rest = ByteBuffer(bytes: bytes)
    while let piece = rest.readSlice(length: min(rest.readableBytes, 1 << 20)), piece.readableBytes > 0 {
      var chunk = ByteBuffer(string: String(piece.readableBytes, radix: 16) + "\r\n")
      chunk.writeImmutableBuffer(piece)
      chunk.writeString("\r\n")
      try await outbound.write(chunk)
    }
  }

  @Test("a change feed at its limits", arguments: Attack.allCases)
  func feed(_ attack: Attack) async throws {
    let body = try attack.body()
    let (status, peak, text) = try await Self.run("pull") { _, outbound in
      try await outbound.write(Self.head(attack.format.rawValue))
      try await Self.chunks(body, outbound)
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(peak < Self.most, "\(attack) took \(peak >> 20) MiB: \(text.prefix(300))")
    #expect(status < 128, "\(text.suffix(1_000))")
  }

  private static let digests: [String] = [
    #"{"success":true,"data":{"version":1,"token":"t","filter":{"types":["#
      + Array(repeating: "\"\"", count: 950_000).joined(separator: ",") + #"]},"types":[]}}"#,
    #"{"success":true,"data":{"version":1,"token":"t","filter":{},"types":[{"type":"a","months":["#
      + (0..<22_000).map { number in
        let sum = String(repeating: "0", count: 32)
        return #"{"month":"\#(CalendarMonth(number: number))","samples":{"count":1,"sum":"\#(sum)"},"#
          + #""deleted":{"count":1,"sum":"\#(sum)"}}"#
      }.joined(separator: ",") + "]}]}}",
    String(repeating: "[", count: 6 << 20),
    #"{"data":["# + String(repeating: "{},", count: 2 << 20),
    String(repeating: " ", count: 64 << 20),
  ]

  @Test("a digest at its limits", arguments: digests.indices)
  func digest(index: Int) async throws {
    let (status, peak, text) = try await Self.run("verify") { _, outbound in
      try await outbound.write(Self.head("application/json"))
      try await Self.chunks(Array(Self.digests[index].utf8), outbound)
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(peak < Self.most, "\(peak >> 20) MiB: \(text.prefix(300))")
    #expect(status < 128, "\(text.suffix(1_000))")
  }
}
