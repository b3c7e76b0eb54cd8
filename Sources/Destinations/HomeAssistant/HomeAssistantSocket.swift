import Foundation
import HealthModel

/// A client for Home Assistant's WebSocket API (developers.home-assistant.io/docs/api/websocket).
struct HomeAssistantSocket {
  private var socket: WebSocket
  private let host: String
  private let token: String
  private var number: Int64 = 0
  /// Whether metadata has the kind of mean and the unit class: required from 2025.11 on, refused before.
  let wantsUnitClasses: Bool

  /// A command that Home Assistant has refused.
  struct Refusal: Error {
    var code: String
    var message: String
  }

  /// Connects and logs in, runs a closure and closes the connection.
  ///
  /// - Parameter url: the URL of Home Assistant itself.
  static func with<Value: Sendable>(
    _ url: URL, token: String, authority: String?, _ body: (inout HomeAssistantSocket) async throws -> Value
  ) async throws -> Value {
    var attempt = 1
    while true {
      var isOpen = false
      var isLoggedIn = false
      do {
        return try await once(url, token: token, authority: authority, &isOpen, &isLoggedIn, body)
      } catch DeliveryError.temporary where isOpen && !isLoggedIn && attempt < attempts {
        // While it starts, Home Assistant closes connections that it can't log in within ten seconds.
        attempt += 1
      }
    }
  }

  /// The maximum number of attempts to log in over an accepted connection.
  private static let attempts = 3

  private static func once<Value: Sendable>(
    _ url: URL, token: String, authority: String?, _ isOpen: inout Bool, _ isLoggedIn: inout Bool,
    _ body: (inout HomeAssistantSocket) async throws -> Value
  ) async throws -> Value {
    let host = url.host(percentEncoded: false) ?? ""
    return try await WebSocket.with(url.appending(path: "api/websocket"), authority: authority) { socket in
      isOpen = true
      _ = try message(try await socket.receive(), host)
      try await socket.send(CanonicalJSON.encode(["type": "auth", "access_token": token]))
      let answer = try message(try await socket.receive(), host)
      guard answer["type"] == .string("auth_ok") else {
        throw DeliveryError.unusable(
          reason: "\(host) does not take the token: is it a long-lived access token of this server?")
      }
      isLoggedIn = true
      var connection = HomeAssistantSocket(
        socket: socket, host: host, token: token, wantsUnitClasses: wantsUnitClasses(answer["ha_version"]))
      return try await body(&connection)
    }
  }

  private init(socket: WebSocket, host: String, token: String, wantsUnitClasses: Bool) {
    (self.socket, self.host, self.token) = (socket, host, token)
    self.wantsUnitClasses = wantsUnitClasses
  }

  /// Returns whether a version needs unit classes.
  ///
  /// - Parameter version: the server's version, such as `2026.11.0`.
  static func wantsUnitClasses(_ version: JSONValue?) -> Bool {
    guard case .string(let text)? = version else { return false }
    let parts = text.split(separator: ".").prefix(2).map { Int($0.prefix(6)) }
    guard parts.count == 2, let year = parts[0], let month = parts[1] else { return false }
    return (year, month) >= (2025, 11)
  }

  /// Sends a command and returns its result.
  ///
  /// - Throws: ``Refusal``, ``DeliveryError``.
  mutating func call(_ type: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    number += 1
    var command = members
    command["id"] = .integer(number)
    command["type"] = .string(type)
    try await socket.send(CanonicalJSON.encode(JSONValue.object(command)))
    while true {
      let answer = try Self.message(try await socket.receive(), host)
      guard answer["id"] == .integer(number), answer["type"] == .string("result") else { continue }
      if answer["success"] == .bool(true) { return answer["result"] ?? .null }
      var refusal = Refusal(code: "unknown", message: "")
      if case .object(let error)? = answer["error"] {
        if case .string(let code)? = error["code"] { refusal.code = code.shortened(toBytes: 100) }
        if case .string(let text)? = error["message"] {
          // A server may quote the request, which contains the token.
          refusal.message = text.shortened(toBytes: 65_536).replacing(token, with: "…").shortened(toBytes: 200)
        }
      }
      throw refusal
    }
  }

  /// Returns the delivery error for a refusal.
  ///
  /// - Parameter what: the purpose, a verb and what follows: `keep history`.
  func failure(_ refusal: Refusal, _ what: String) -> DeliveryError {
    switch refusal.code {
    case "unauthorized":
      .unusable(reason: "\(host) does not let the token's user \(what): it must be an administrator's")
    case "unknown_command":
      .unusable(reason: "\(host) cannot \(what): it has no recorder, or is older than 2022.10")
    case "timeout", "home_assistant_error", "unknown_error":
      .temporary(reason: "\(host) could not \(what) (\(refusal.message))")
    default: .unusable(reason: "\(host) refuses to \(what) (\(refusal.code): \(refusal.message))")
    }
  }

  static func message(_ bytes: [UInt8], _ host: String) throws -> [String: JSONValue] {
    guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else {
      throw DeliveryError.temporary(reason: "\(host) sends what is no message of Home Assistant")
    }
    return members
  }
}
