import Cryptography
import Foundation
import HealthModel
import OperatingSystem

/// An object store on a WebDAV server (RFC 4918). Missing collections are created.
///
/// Conditions keep two writers apart, or locks if the server ignores conditions or never has strong ETags
/// (``WebDAVProtection``).
struct WebDAVObjectStore: ObjectStore {
  let service: HTTPService
  /// The URL of the collection, with a `/` at its end.
  private let root: String
  private let authorization: @Sendable () throws(SettingsError) -> [(name: String, value: String)]
  let clock: any Clock<Duration>
  private let isOnlyWriter: Bool
  let memory: WebDAVProtectionMemory
  private let making = AsyncLock()
  /// The path before the name of the file that is written to test the server.
  let probePrefix: String

  /// The number of retries for a weak ETag: a server may not distinguish two states within a second.
  private static let patience = 6
  private static let pause = Duration.milliseconds(400)
  /// The statuses for a missing parent collection: 409 (RFC 4918, section 9.3.1), and those that some servers send.
  static let missingCollection: Set = [403, 404, 409]
  /// The time for a concurrent write to finish that began before ours.
  private static let settling = Duration.milliseconds(50)

  /// Creates a store without sending a request.
  ///
  /// - Parameters:
  ///   - url: a collection that exists.
  ///   - isOnlyWriter: whether no other program writes there, so that no protection is needed.
  ///   - authorization: returns the headers of every request.
  init(
    _ service: HTTPService, url: URL, clock: any Clock<Duration>, isOnlyWriter: Bool, probePrefix: String = "",
    stateFolder: String, authorization: @escaping @Sendable () throws(SettingsError) -> [(name: String, value: String)]
  ) {
    self.service = service
    let text = url.absoluteString
    root = text.hasSuffix("/") ? text : text + "/"
    (self.clock, self.isOnlyWriter, self.probePrefix) = (clock, isOnlyWriter, probePrefix)
    memory = WebDAVProtectionMemory(url: root, folder: stateFolder)
    self.authorization = authorization
  }

  /// Returns the means that keep two writers apart, or `nil` if no other program writes.
  ///
  /// - Throws: ``DeliveryError/unusable(reason:)`` if the server offers none.
  private func protection() async throws -> WebDAVProtection? {
    if isOnlyWriter { return nil }
    let found = try await memory.value { try await probeProtection() }
    if found.isEnough { return found }
    // A person may change the server's configuration, so the next call tests again.
    await memory.forget()
    throw DeliveryError.unusable(
      reason: "it overwrites what is there although it was told not to (If-None-Match), and has no locks, so two "
        + "writers would lose each other's samples; if no other program writes there, set only-writer = true")
  }

  /// Returns 1 if locks are needed: servers keep their locks in one file, and lose some if several are taken at once.
  func concurrentWrites() async throws -> Int {
    try await protection()?.needsLocks == true ? 1 : Self.usualConcurrentWrites
  }

  func get(_ name: String, limit: Int) async throws -> StoredObject? {
    let needsLocks = try await protection()?.needsLocks ?? false
    for attempt in 1... {
      let response = try await ask("GET", name, limit: limit)
      switch response.status {
      case 200: break
      // A parent collection may be missing, too (RFC 4918, section 9.7.1).
      case 404, 409, 410: return nil
      default: throw refusal(response, "GET")
      }
      if needsLocks || isOnlyWriter { return StoredObject(bytes: response.body, version: Self.version(response.body)) }
      guard let tag = response.header("ETag"), !tag.isEmpty else {
        throw DeliveryError.unusable(
          reason: "the server gives files no ETag, without which two writers lose each other's samples")
      }
      // An ETag is weak in the second after a change, and then no condition matches (RFC 9110, section 8.8.3).
      if !tag.hasPrefix("W/") || attempt > Self.patience {
        return StoredObject(bytes: response.body, version: ObjectVersion(rawValue: tag))
      }
      try await clock.sleep(for: Self.pause)
    }
    return nil
  }

  /// Returns a version that is a hash of the bytes, for comparisons under a lock.
  static func version(_ bytes: [UInt8]) -> ObjectVersion {
    ObjectVersion(rawValue: RadixCoding.hex.encode(SHA256.hash(data: bytes)))
  }

  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws {
    if condition != .always, try await protection()?.needsLocks == true {
      return try await putLocked(bytes, at: name, contentType: contentType, if: condition)
    }
    var headers = [(name: "Content-Type", value: contentType)]
    // Without other writers there is nothing to protect, and servers without usable ETags would never agree.
    let condition = isOnlyWriter ? .always : condition
    switch condition {
    case .always: break
    case .absent: headers.append(("If-None-Match", "*"))
    case .unchanged(let version): headers.append(("If-Match", version.rawValue))
    }
    var response = try await askWhileLocked("PUT", name, headers, bytes)
    if Self.missingCollection.contains(response.status), try await makeCollections(of: name) {
      response = try await askWhileLocked("PUT", name, headers, bytes)
    }
    switch response.status {
    case 200, 201, 204: if condition != .always { try await verify(bytes, name) }
    case 412 where condition != .always: throw ObjectConflict(name: name)
    default: throw refusal(response, "PUT")
    }
  }

  /// Checks that a written file has these bytes. Servers check the condition before they receive the body, so that
  /// one of two simultaneous writers overwrites the other.
  ///
  /// - Throws: ``ObjectConflict`` if the file has other bytes by now.
  private func verify(_ bytes: [UInt8], _ name: String) async throws {
    try await clock.sleep(for: Self.settling)
    let response = try await ask("GET", name)
    guard response.status == 200, response.body == bytes else { throw ObjectConflict(name: name) }
  }

  func delete(_ name: String) async throws {
    let response = try await askWhileLocked("DELETE", name)
    switch response.status {
    case 200...206, 208...299, 404, 409, 410: return
    default: throw refusal(response, "DELETE")
    }
  }

  // MARK: Collections

  /// Creates a file's parent collections, one by one: rclone loses files in a collection that is created twice at
  /// once.
  ///
  /// - Returns: whether the file has parent collections.
  @discardableResult
  func makeCollections(of name: String) async throws -> Bool {
    let parts = name.split(separator: "/").dropLast()
    if parts.isEmpty { return false }
    try await making.pass { try await make(parts) }
    return true
  }

  /// Creates a collection, and its parents only if they are missing. The result is not checked: the following write
  /// fails if the collection doesn't exist.
  private func make(_ parts: ArraySlice<Substring>) async throws {
    let collection = parts.joined(separator: "/") + "/"
    let status = try await ask("MKCOL", collection).status
    guard Self.missingCollection.contains(status), parts.count > 1 else { return }
    try await make(parts.dropLast())
    _ = try await ask("MKCOL", collection)
  }

  // MARK: Requests

  /// Returns the URL of a name.
  func url(_ name: String) -> String { root + SignatureV4.encoded(name, keeping: "/") }

  /// Sends a request and returns the answer, except for errors that every caller treats alike.
  ///
  /// - Parameters:
  ///   - limit: the maximum size of the answer to a GET, in bytes.
  ///   - file: the file that receives the answer to a GET, see ``HTTPService/Request/file``.
  func ask(
    _ method: String, _ name: String, _ headers: [(name: String, value: String)] = [], _ body: [UInt8]? = nil,
    limit: Int = DayFiles.largestObject, file: String? = nil
  ) async throws -> HTTPService.Response {
    let authorization: [(name: String, value: String)]
    do {
      authorization = try await onThread { [authorization = self.authorization] _ in try authorization() }
    } catch let error as SettingsError {
      throw DeliveryError.unusable(reason: "\(error)")
    }
    var request = HTTPService.Request(method, url(name), headers: authorization + headers, body: body)
    request.file = file
    switch method {
    case "GET": (request.longestAnswer, request.whenLonger) = (limit, DayFiles.tooLarge(name))
    case "PROPFIND": break
    default: request.longestAnswer = HTTPService.longestReceipt
    }
    let response = try await service.answer(to: request)
    switch response.status {
    case 200 where ["PUT", "DELETE"].contains(method) && response.isPage:
      throw DeliveryError.unusable(
        reason: "the server answers with a page for people (200), as no WebDAV server does: is url right?")
    case 401: throw DeliveryError.unusable(reason: "the server wants a name and a password, or others (401)")
    case 507: throw DeliveryError.temporary(reason: "the server has no space left (507)")
    case 408, 425, 429, 500, 502...599: throw HTTPService.failure(response) ?? refusal(response, method)
    default: return response
    }
  }

  func refusal(_ response: HTTPService.Response, _ method: String) -> DeliveryError {
    switch response.status {
    case 403: .unusable(reason: "the server does not allow \(method) (403): may this user write there?")
    case 405, 501:
      .unusable(reason: "the server does not know \(method) (\(response.status)): is it WebDAV, and url right?")
    case 404, 409: .unusable(reason: "there is no collection at url (\(response.status)): make it, or put that right")
    case 413: .refused(reason: "the file of its day is too large for the server (413)")
    default: HTTPService.misplaced(response) ?? .unusable(reason: "the server refuses \(method) (\(response.status))")
    }
  }
}
