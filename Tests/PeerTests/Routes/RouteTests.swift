import Foundation
import HealthModel
import NIOHTTP1
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("The routes that are open to everyone, and what is none")
struct RouteTests {
  @Test("GET /status says who answers and nothing about the record")
  func status() async throws {
    try await withServer(ServerOptions(samples: Samples.everyKind)) { server in
      let answer = try await server.get(Route.status)
      #expect(answer.status == 200)
      #expect(answer.headers.first(name: "Content-Type") == "application/json")
      #expect(answer.headers.first(name: "Cache-Control") == "no-store")
      let data = try answer.data()
      #expect(data["status"] as? String == "running")
      #expect(data["version"] as? String == TestServer.version)
      #expect(data["deviceName"] as? String == TestServer.name)
      #expect(data["availableTypes"] as? Int == 0)
      #expect(data["protocol"] as? String == "hpeer/1")
      #expect(data["id"] as? String == server.identity.id.hex)
      let time = try #require(data["time"] as? Double)
      #expect(abs(time - Date().timeIntervalSince1970) < 60)
    }
  }

  @Test("nothing is answered before the start is in the audit log")
  func start() async throws {
    var options = ServerOptions()
    let (order, toOrder) = AsyncStream.makeStream(of: String.self)
    options.whenListening = {
      // Time enough for whoever would not wait.
      try? await Task.sleep(for: .milliseconds(300))
      toOrder.yield("started")
    }
    try await withServer(options) { server in
      let answer = try await server.get(Route.status)
      #expect(answer.status == 200)
      toOrder.yield("answered")
    }
    toOrder.finish()
    var events: [String] = []
    for await event in order { events.append(event) }
    #expect(events == ["started", "answered"])
  }

  @Test("GET /status counts the types that a paired caller may see")
  func statusWithToken() async throws {
    try await withServer(ServerOptions(samples: Samples.everyKind)) { server in
      let all = try await server.token()
      let some = try await server.token(scope: SampleFilter(types: [Samples.heartRate]))
      #expect(try await server.get(Route.status, token: all.token).data()["availableTypes"] as? Int == 11)
      #expect(try await server.get(Route.status, token: some.token).data()["availableTypes"] as? Int == 1)
    }
  }

  @Test("GET /openapi.yaml is the document that is built in, and it names every route")
  func openAPI() async throws {
    try await withServer { server in
      let answer = try await server.get(Route.openAPI)
      #expect(answer.status == 200)
      #expect(answer.headers.first(name: "Content-Type") == "application/yaml")
      #expect(answer.text.hasPrefix("openapi: 3.1"))
      for path in Self.methods.keys { #expect(answer.text.contains("\n  \(path):\n"), "\(path)") }
    }
  }

  @Test("GET /openapi.yaml has all short names of types")
  func openAPINamesTypes() async throws {
    try await withServer { server in
      let text = try await server.get(Route.openAPI).text
      let start = try #require(text.range(of: "\n    TypeName:\n")).upperBound
      let list = try #require(text[start...].firstRange(of: /enum:\s*\[([^\]]*)\]/))
      let names = text[list].split { !$0.isLetter && !$0.isNumber }.dropFirst().map(String.init)
      #expect(names == SampleTypeCatalogue.healthKit.entries.map(\.shortName).sorted())
    }
  }

  @Test("GET /pair/v1/hello tells whether a window is open, and its salt")
  func hello() async throws {
    try await withServer { server in
      let closed = try await server.get(Route.pairHello).object()
      #expect(closed["windowOpen"] as? Bool == false)
      #expect(closed["salt"] == nil)
      #expect(closed["serverID"] as? String == server.identity.id.hex)
      let window = try await server.desk.open()
      let open = try await server.get(Route.pairHello).object()
      #expect(open["windowOpen"] as? Bool == true)
      #expect(open["salt"] as? String == window.salt.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
      #expect(open["versions"] as? [String] == ["hpeer-pair/1"])
    }
  }

  /// The methods that each path supports. All others give status 405.
  static let methods: [String: [HTTPMethod]] = [
    "/status": [.GET, .HEAD], "/openapi.yaml": [.GET, .HEAD], "/pair/v1/hello": [.GET, .HEAD],
    "/pair/v1/start": [.POST], "/pair/v1/finish": [.POST], "/api/v1/pair": [.POST],
    "/health/types": [.GET, .HEAD], "/health/data": [.GET, .HEAD], "/api/v2/changes": [.GET, .HEAD],
    "/api/v2/digest": [.GET, .HEAD], "/api/v2/person": [.POST], "/api/v2/pairing": [.GET, .HEAD, .DELETE],
  ]

  @Test("a wrong method is 405 with the methods that are right")
  func wrongMethods() async throws {
    try await withServer { server in
      for (path, allowed) in Self.methods {
        for method in [HTTPMethod.GET, .POST, .PUT, .DELETE, .PATCH, .OPTIONS] where !allowed.contains(method) {
          let answer = try await server.request(method, path)
          #expect(answer.status == 405, "\(method) \(path)")
          let allow = answer.headers.first(name: "Allow")?.split(separator: ", ").map(String.init) ?? []
          #expect(Set(allow) == Set(allowed.map(\.rawValue)), "\(method) \(path)")
          #expect(try answer.failure() == "Method Not Allowed")
        }
      }
    }
  }

  @Test(
    "an unknown path is 404, with or without a token",
    arguments: ["/", "/statu", "/status/x", "/health", "/api/v2/digests", "/..%2fstatus", "/%00", "/api/v1/pair/../x"])
  func unknownPaths(path: String) async throws {
    try await withServer { server in
      let token = try await server.token().token
      for token in [nil, token] {
        let answer = try await server.get(path, token: token)
        #expect(answer.status == 404)
        #expect(try answer.failure() == "Not Found")
      }
    }
  }

  @Test("the seed's app finds its four keys of /status")
  func statusForTheApp() async throws {
    try await withServer { server in
      let data = try await server.get(Route.status).data()
      for key in ["status", "version", "deviceName", "availableTypes"] { #expect(data[key] != nil, "\(key)") }
    }
  }

  @Test("one connection serves many requests")
  func keepAlive() async throws {
    try await withServer { server in
      try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        for _ in 0..<20 {
          let head = try await connection.send(.GET, Route.status)
          #expect(head.status == .ok)
          _ = try await connection.body()
        }
      }
    }
  }
}
