import Foundation
import OperatingSystem

/// The files of a WebDAV server (RFC 4918). Collections that are missing are made.
struct WebDAVObjectStore: ObjectStore {
  private let service: HTTPService
  /// With a `/` at its end.
  private let root: String
  private let authorization: @Sendable () throws(SettingsError) -> [(name: String, value: String)]
  private let clock: any Clock<Duration>
  private let verifies: Bool

  /// How often a file is asked for again whose ETag is weak: a server may not tell two states of one second apart.
  private static let patience = 6
  private static let pause = Duration.milliseconds(400)
  /// How long another's write that began before ours may take.
  private static let settling = Duration.milliseconds(50)

  /// - Parameters:
  ///   - url: of a collection that exists.
  ///   - verifies: whether others may write there, so that what was written is looked at again.
  ///   - authorization: the headers of every request.
  init(
    _ service: HTTPService, url: URL, clock: any Clock<Duration>, verifies: Bool,
    authorization: @escaping @Sendable () throws(SettingsError) -> [(name: String, value: String)]
  ) {
    self.service = service
    let text = url.absoluteString
    root = text.hasSuffix("/") ? text : text + "/"
    (self.clock, self.verifies) = (clock, verifies)
    self.authorization = authorization
  }

  func get(_ name: String) async throws -> StoredObject? {
    for attempt in 1... {
      let response = try await ask("GET", name)
      switch response.status {
      case 200: break
      // A collection on the way may be missing, too (RFC 4918, section 9.7.1).
      case 404, 409, 410: return nil
      default: throw refusal(response, "GET")
      }
      guard let tag = response.header("ETag"), !tag.isEmpty else {
        throw DeliveryError.unusable(
          reason: "the server gives files no ETag, without which two writers lose each other's samples")
      }
      // Weak in the second after a change, and then no condition holds (RFC 9110, section 8.8.3).
      if !tag.hasPrefix("W/") || attempt > Self.patience {
        return StoredObject(bytes: response.body, version: ObjectVersion(rawValue: tag))
      }
      try await clock.sleep(for: Self.pause)
    }
    return nil
  }

  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws {
    var headers = [(name: "Content-Type", value: contentType)]
    switch condition {
    case .always: break
    case .absent: headers.append(("If-None-Match", "*"))
    case .unchanged(let version): headers.append(("If-Match", version.rawValue))
    }
    var response = try await ask("PUT", name, headers, bytes)
    if [403, 404, 409].contains(response.status), try await makeCollections(of: name) {
      response = try await ask("PUT", name, headers, bytes)
    }
    switch response.status {
    case 200, 201, 204: if condition != .always, verifies { try await verify(bytes, name) }
    case 412 where condition != .always: throw ObjectConflict(name: name)
    // Somebody else holds a lock for the moment.
    case 423: throw DeliveryError.temporary(reason: "\(name) is locked")
    default: throw refusal(response, "PUT")
    }
  }

  /// Servers look at the condition before they take the bytes: of two who write at the same moment, one is overwritten.
  ///
  /// - Throws: ``ObjectConflict`` where something else is there by now.
  private func verify(_ bytes: [UInt8], _ name: String) async throws {
    try await clock.sleep(for: Self.settling)
    let response = try await ask("GET", name)
    guard response.status == 200, response.body == bytes else { throw ObjectConflict(name: name) }
  }

  func delete(_ name: String) async throws {
    let response = try await ask("DELETE", name)
    switch response.status {
    case 200...299, 404, 409, 410: return
    default: throw refusal(response, "DELETE")
    }
  }

  // MARK: Collections

  /// - Returns: whether the name is in any.
  private func makeCollections(of name: String) async throws -> Bool {
    let parts = name.split(separator: "/").dropLast()
    for count in parts.indices.map({ $0 + 1 }) {
      // Whether it was made, was there, or is being made by somebody else, the write that follows tells.
      _ = try await ask("MKCOL", parts[..<count].joined(separator: "/") + "/")
    }
    return !parts.isEmpty
  }

  // MARK: Requests

  private func ask(
    _ method: String, _ name: String, _ headers: [(name: String, value: String)] = [], _ body: [UInt8]? = nil
  ) async throws -> HTTPService.Response {
    let authorization: [(name: String, value: String)]
    do {
      authorization = try await onThread { [authorization = self.authorization] _ in try authorization() }
    } catch let error as SettingsError {
      throw DeliveryError.unusable(reason: "\(error)")
    }
    let url = root + SignatureV4.encoded(name, keeping: "/")
    var request = HTTPService.Request(method, url, headers: authorization + headers, body: body)
    request.longestAnswer = DayFiles.largestObject
    let response = try await service.answer(to: request)
    switch response.status {
    case 401: throw DeliveryError.unusable(reason: "the server wants a name and a password, or others (401)")
    case 507: throw DeliveryError.temporary(reason: "the server has no space left (507)")
    case 408, 425, 429, 500, 502...599: throw HTTPService.failure(response) ?? refusal(response, method)
    default: return response
    }
  }

  private func refusal(_ response: HTTPService.Response, _ method: String) -> DeliveryError {
    switch response.status {
    case 403: .unusable(reason: "the server does not allow \(method) (403): may this user write there?")
    case 405, 501:
      .unusable(reason: "the server does not know \(method) (\(response.status)): is it WebDAV, and url right?")
    case 404, 409: .unusable(reason: "there is no collection at url (\(response.status)): make it, or put that right")
    case 413: .unusable(reason: "a file is too large for the server (413)")
    default: HTTPService.misplaced(response) ?? .unusable(reason: "the server refuses \(method) (\(response.status))")
    }
  }
}
