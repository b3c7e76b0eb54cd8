import Foundation
import Logging
import ServiceLifecycle
import Testing

@testable import PeerServer

@Suite struct MetricsTests {
  @Test("one path is answered, to GET and HEAD of HTTP/1")
  func requests() async throws {
    let answer = MetricsAnswer { "up 1\n" }
    let full = try #require(await answer.answer(to: "GET /metrics HTTP/1.1"))
    #expect(full.hasPrefix("HTTP/1.1 200 OK\r\n") && full.hasSuffix("\r\n\r\nup 1\n"))
    #expect(full.contains("Content-Length: 5\r\n"))
    let head = try #require(await answer.answer(to: "HEAD /metrics?x=1 HTTP/1.0"))
    #expect(head.contains("Content-Length: 5\r\n") && head.hasSuffix("\r\n\r\n"))
    #expect(await answer.answer(to: "GET / HTTP/1.1")?.hasPrefix("HTTP/1.1 404 ") == true)
    #expect(await answer.answer(to: "POST /metrics HTTP/1.1")?.hasPrefix("HTTP/1.1 405 ") == true)
    for line in ["", "{\"state\":{}}", "GET /metrics", "GET /metrics HTTP/2", "GET  /metrics HTTP/2 x"] {
      #expect(await answer.answer(to: line) == nil, "\(line)")
    }
  }

  @Test("a page that has its own name lead to loopback is not answered")
  func hosts() {
    for host in ["localhost", "LOCALHOST:9", "127.0.0.1:8738", "[::1]:9"] {
      #expect(MetricsServer.isForLoopback(["Accept: */*", "Host: \(host)"]), "\(host)")
    }
    for fields in [
      [], ["Host: evil.example"], ["Host: localhost.evil.example"], ["Host: localhost", "Host: x"], ["Host:"],
    ] {
      #expect(!MetricsServer.isForLoopback(fields), "\(fields)")
    }
  }

  @Test("Prometheus is answered on loopback")
  func loopback() async throws {
    let (ports, listens) = AsyncStream.makeStream(of: Int.self)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = MetricsServer(port: 0, logger: logger, onListening: { listens.yield($0) }) { "up 1\n" }
    let group = ServiceGroup(services: [server], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      let port = try #require(await ports.first { _ in true })
      #expect(try curl("http://127.0.0.1:\(port)/metrics") == "up 1\n")
      #expect(
        try curl("-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: x", "http://127.0.0.1:\(port)/metrics") == "400")
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  private func curl(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["curl", "-s", "--noproxy", "*", "--max-time", "20"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    process.waitUntilExit()
    return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
