import Foundation
import HealthModel
import OperatingSystem
import TestSupport

@testable import Destinations

/// The versions of Home Assistant that tests run.
enum HomeAssistantVersion: CaseIterable, Sendable {
  /// The oldest supported version, 2025.1.
  case oldest
  /// The version 2026.11, which needs a Python that only root can install here.
  case current

  static let installed = allCases.filter { $0.environment.program("python") != nil }

  var environment: PythonEnvironment {
    switch self {
    case .oldest: Self.oldestEnvironment
    case .current: Self.currentEnvironment
    }
  }

  private static let oldestEnvironment = PythonEnvironment("home-assistant")
  private static let currentEnvironment = PythonEnvironment("home-assistant-now")

  private static let servers = Dictionary(
    uniqueKeysWithValues: allCases.map { version in (version, Task { try await HomeAssistantServer(version) }) })

  /// The server shared by all tests, because it takes about ten seconds to start.
  var server: HomeAssistantServer {
    get async throws {
      guard let server = Self.servers[self] else { throw HomeAssistantServer.Failure(description: environment.missing) }
      return try await server.value
    }
  }
}

/// A real Home Assistant on its own port, which ends with this process.
final class HomeAssistantServer: Sendable {
  static let environment = HomeAssistantVersion.oldest.environment
  static var isInstalled: Bool { HomeAssistantVersion.installed.contains(.oldest) }

  /// A launcher that ends when its standard input is closed, and so with the tests, however they end.
  private static let program = """
    import os, sys, threading
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    sys.argv = ["hass", "--skip-pip", "-c", sys.argv[1]]
    from homeassistant.__main__ import main
    sys.exit(main())
    """
  private static let client = "http://127.0.0.1/"

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  let port: Int
  /// The token of the owner, who is an administrator.
  let token: String
  let service: HTTPService
  private let directory: TemporaryDirectory
  private let process: Process
  private let input = Pipe()

  var url: URL { Self.url(port) }
  private static func url(_ port: Int) -> URL {
    // An address of digits is always a URL.
    URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/")
  }

  fileprivate init(_ version: HomeAssistantVersion) async throws {
    directory = try TemporaryDirectory()
    port = try TCPSocket.freePort()
    let configuration = """
      http:
        server_host: 127.0.0.1
        server_port: \(port)
      api:
      auth:
      config:
      webhook:
      sensor:
      history:
      recorder:
      """
    try Data(configuration.utf8).write(to: URL(filePath: directory.path("configuration.yaml")))
    process = Process()
    guard let python = version.environment.program("python") else {
      throw Failure(description: version.environment.missing)
    }
    process.executableURL = URL(filePath: python)
    process.arguments = ["-c", Self.program, directory.path]
    process.standardInput = input
    let log = directory.path("log")
    try Data().write(to: URL(filePath: log))
    let output = FileHandle(forWritingAtPath: log)
    process.standardOutput = output
    process.standardError = output
    try process.runUnblocked()

    let settings = try DestinationSettings(
      ["url": .text(Self.url(port).absoluteString), "token": .text("env:TOKEN")], of: HomeAssistantDestination.self)
    service = try HTTPService(settings, url: Self.url(port))
    token = try await Self.logIn(service, Self.url(port), process)
    // The address of a configuration file is a trial, which ends after five minutes.
    if version == .current { _ = try await call("http/config/promote") }
  }

  /// Waits until the server answers, and creates its owner.
  private static func logIn(_ service: HTTPService, _ url: URL, _ process: Process) async throws -> String {
    for _ in 0..<3_000 {
      let answer = try? await service.answer(
        to: HTTPService.Request("GET", url.appending(path: "api/onboarding").absoluteString))
      if answer?.status == 200 { break }
      guard process.isRunning else { throw Failure(description: "Home Assistant has ended") }
      try await Task.sleep(for: .milliseconds(100))
    }
    let owner = [
      "client_id": client, "name": "Owner", "username": "owner", "password": "secret", "language": "en",
    ]
    let request = HTTPService.Request(
      "POST", url.appending(path: "api/onboarding/users").absoluteString,
      headers: [("Content-Type", "application/json")], body: Array(try CanonicalJSON.encode(owner).utf8))
    let made = try await patiently {
      let answer = try await service.answer(to: request)
      guard (200..<300).contains(answer.status) else { throw DeliveryError.temporary(reason: "\(answer.status)") }
      return answer
    }
    let code = try JSONDecoder().decode([String: String].self, from: Data(made.body))["auth_code"] ?? ""
    let form = "grant_type=authorization_code&code=\(code)&client_id=http%3A%2F%2F127.0.0.1%2F"
    let answer = try await service.answer(
      to: HTTPService.Request(
        "POST", url.appending(path: "auth/token").absoluteString,
        headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8)))
    guard case .object(let members) = try JSONDecoder().decode(JSONValue.self, from: Data(answer.body)),
      case .string(let token)? = members["access_token"]
    else { throw Failure(description: "Home Assistant gives no token") }
    return token
  }

  /// Retries requests that fail on a busy machine: Home Assistant itself has time limits of ten seconds.
  private static func patiently<Value>(_ ask: @Sendable () async throws -> Value) async throws -> Value {
    for _ in 0..<100 {
      do {
        return try await ask()
      } catch DeliveryError.temporary {
        try await Task.sleep(for: .milliseconds(200))
      }
    }
    return try await ask()
  }

  // MARK: What it has

  /// Sends a request with the owner's token. Returns the body, or `nil` for status 404.
  func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue? {
    let answer = try await service.answer(
      to: HTTPService.Request(
        method, url.appending(path: path).absoluteString,
        headers: [HTTPHeaderText.bearer(token), ("Content-Type", "application/json")],
        body: try body.map { Array(try CanonicalJSON.encode($0).utf8) }))
    if answer.status == 404 { return nil }
    guard (200..<300).contains(answer.status) else {
      throw Failure(description: "\(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
    }
    return try JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
  }

  struct State {
    var state: String
    var attributes: [String: JSONValue]
  }

  /// Returns the state of an entity, or `nil` if it has none.
  func state(_ entity: String) async throws -> State? {
    guard case .object(let members)? = try await ask("GET", "api/states/\(entity)"),
      case .string(let state)? = members["state"], case .object(let attributes)? = members["attributes"]
    else { return nil }
    return State(state: state, attributes: attributes)
  }

  struct Row: Hashable {
    /// The start of the period, in seconds since 1970.
    var start: Int64
    var values: [String: Double]
  }

  /// Returns the rows of a statistic since 2000.
  func statistics(_ id: String, by period: String = "hour") async throws -> [Row] {
    let answer = try await call(
      "recorder/statistics_during_period",
      [
        "start_time": .string("2000-01-01T00:00:00Z"), "statistic_ids": .array([.string(id)]),
        "period": .string(period),
        "types": .array(["change", "max", "mean", "min", "state", "sum"].map(JSONValue.string)),
      ])
    guard case .object(let series) = answer, case .array(let rows)? = series[id] else { return [] }
    return rows.compactMap { row in
      guard case .object(let members) = row, let start = number(members["start"]) else { return nil }
      let values = members.filter { $0.key != "start" && $0.key != "end" }.compactMapValues(number)
      return Row(start: Int64(start / 1_000), values: values)
    }
  }

  func call(_ type: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    try await Self.patiently { [url, token] in
      try await HomeAssistantSocket.with(url, token: token, authority: nil) { try await $0.call(type, members) }
    }
  }

  private func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let number)?: Double(number)
    case .number(let number)?: number
    default: nil
    }
  }
}
