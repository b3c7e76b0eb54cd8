import Foundation

extension WebDAVObjectStore {
  /// The number of attempts to obtain a lock that others hold.
  private static let lockAttempts = 12
  private static let firstLockPause = Duration.milliseconds(100)
  private static let longestLockPause = Duration.seconds(2)

  /// Writes under a lock on the file's collection, after checking the condition. No other program can write there in
  /// the meantime, whether it uses locks or not.
  func putLocked(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws {
    // If the file exists, its collection exists as well.
    if condition == .absent { try await makeCollections(of: name) }
    let lock = try await lock(collection(of: name) ?? name)
    try await holding(lock) {
      do {
        try await put(bytes, at: name, contentType: contentType, if: condition, under: lock)
      } catch {
        await deleteMade(by: lock)
        throw error
      }
    }
  }

  private func put(
    _ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition, under lock: WebDAVLock
  ) async throws {
    let current = try await ask("GET", name)
    switch (condition, current.status) {
    case (.always, _): break
    case (.absent, 404), (.absent, 409), (.absent, 410): break
    case (.absent, 200) where lock.hasMadeResource && current.body.isEmpty: break
    case (.unchanged(let version), 200) where Self.version(current.body) == version: break
    case (_, 200), (_, 404), (_, 409), (_, 410): throw ObjectConflict(name: name)
    default: throw refusal(current, "GET")
    }
    let response = try await ask("PUT", name, [("Content-Type", contentType), lock.condition], bytes)
    if WebDAVLock.isGone(response) { throw ObjectConflict(name: name) }
    guard [200, 201, 204].contains(response.status) else { throw refusal(response, "PUT") }
  }

  /// Deletes the empty file that locking has created, which would be taken for a file without records. Deletes it
  /// only if it is still empty and the lock holds: otherwise it is another writer's file.
  private func deleteMade(by lock: WebDAVLock) async {
    guard lock.hasMadeResource else { return }
    // A new task, so that this happens even if the current task is cancelled.
    await Task {
      guard let current = try? await ask("GET", lock.name), current.status == 200, current.body.isEmpty else { return }
      _ = try? await ask("DELETE", lock.name, [lock.condition])
    }.value
  }

  /// Returns the collection of a file, or `nil` for the root, which other programs use as well.
  private func collection(of name: String) -> String? {
    name.lastIndex(of: "/").map { String(name[...$0]) }
  }

  // MARK: Locks

  /// Obtains a lock, and waits while others hold it.
  private func lock(_ name: String) async throws -> WebDAVLock {
    let response = try await askWhileLocked("LOCK", name, Self.lockHeaders(name), WebDAVLock.request)
    if let lock = WebDAVLock(response, name: name, url: url(name)) { return lock }
    // The server doesn't support what was found out before, so it is tested again next time.
    if [400, 405, 501].contains(response.status) { await memory.forget() }
    throw refusal(response, "LOCK")
  }

  private static func lockHeaders(_ name: String) -> [(name: String, value: String)] {
    [
      ("Depth", name.hasSuffix("/") ? "infinity" : "0"),
      ("Timeout", "Second-\(WebDAVLock.asked.components.seconds)"),
      ("Content-Type", "application/xml; charset=utf-8"),
    ]
  }

  /// Runs a closure while holding a lock. Refreshes the lock as long as that takes, and releases it afterwards.
  private func holding(_ lock: WebDAVLock, _ body: @escaping @Sendable () async throws -> Void) async throws {
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask { try await refresh(lock) }
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch {
      await unlock(lock)
      throw error
    }
    await unlock(lock)
  }

  /// Refreshes a lock until the task is cancelled. Throws ``ObjectConflict`` if the lock is gone.
  private func refresh(_ lock: WebDAVLock) async throws {
    while true {
      try await clock.sleep(for: lock.timeout / 3)
      let response = try await ask(
        "LOCK", lock.name, [lock.condition, ("Timeout", "Second-\(WebDAVLock.asked.components.seconds)")])
      guard response.status == 200 else { throw ObjectConflict(name: lock.name) }
    }
  }

  /// Releases a lock, even if the task is cancelled: otherwise no other writer could write until it expires.
  private func unlock(_ lock: WebDAVLock) async {
    await Task { _ = try? await ask("UNLOCK", lock.name, [("Lock-Token", lock.token)]) }.value
  }

  /// Sends a request, and repeats it while another writer holds a lock.
  ///
  /// - Throws: ``DeliveryError/temporary(reason:retryAfter:)`` if the lock is held for too long.
  func askWhileLocked(
    _ method: String, _ name: String, _ headers: [(name: String, value: String)] = [], _ body: [UInt8]? = nil
  ) async throws -> HTTPService.Response {
    var pause = Self.firstLockPause
    for _ in 0..<Self.lockAttempts {
      let response = try await ask(method, name, headers, body)
      guard WebDAVLock.isHeldByOthers(response) else { return response }
      // The random part keeps two waiting writers from colliding again.
      try await clock.sleep(for: pause * Double.random(in: 0.5...1))
      pause = min(pause * 2, Self.longestLockPause)
    }
    throw DeliveryError.temporary(reason: "\(name) is locked by another program")
  }

  // MARK: Testing the server

  /// Tests the server's protection: writes a file with a unique name twice, locks it twice, and deletes it.
  func probeProtection() async throws -> WebDAVProtection {
    let name = "\(probePrefix).hpeer-probe-\(UUID().uuidString.lowercased())"
    do {
      let found = try await findOut(name)
      try await delete(name)
      return found
    } catch let error as Postponed {
      // Nothing was written, and no request is sent before the time that the server has named.
      throw error.reason
    } catch {
      // The first error is the one that a person needs to know.
      _ = try? await ask("DELETE", name)
      throw error
    }
  }

  /// The error of a server that didn't accept the first file and said when to try again.
  private struct Postponed: Error {
    var reason: DeliveryError
  }

  private func findOut(_ name: String) async throws -> WebDAVProtection {
    let headers = [(name: "Content-Type", value: "text/plain"), (name: "If-None-Match", value: "*")]
    let bytes = Array("hpeer".utf8)
    var first: HTTPService.Response
    do {
      first = try await askWhileLocked("PUT", name, headers, bytes)
      if Self.missingCollection.contains(first.status), try await makeCollections(of: name) {
        first = try await askWhileLocked("PUT", name, headers, bytes)
      }
    } catch let error as DeliveryError {
      if case .temporary(_, .some) = error { throw Postponed(reason: error) }
      throw error
    }
    guard [200, 201, 204, 412].contains(first.status) else { throw refusal(first, "PUT") }
    let present = try await ask("GET", name)
    // Only this writer has the name: a proxy has sent the request twice, and 412 is the second answer.
    if first.status == 412, present.body != bytes { throw refusal(first, "PUT") }
    let tag = present.header("ETag") ?? ""
    let second = try await ask("PUT", name, headers, bytes)
    var found = WebDAVProtection(
      heedsConditions: second.status == 412, hasStrongTags: !tag.isEmpty && !tag.hasPrefix("W/"), hasLocks: false)
    // Locks are not needed if conditions work.
    if !(found.heedsConditions && found.hasStrongTags) { found.hasLocks = try await hasLocks(name) }
    return found
  }

  /// Returns whether locks exclude other writers. Some servers grant every lock so that certain clients can write;
  /// only a server that refuses a second lock is reliable.
  private func hasLocks(_ name: String) async throws -> Bool {
    // Servers with locks are of class 2 (RFC 4918, section 18.2).
    let classes = try await ask("OPTIONS", name).headers.filter { $0.name.lowercased() == "dav" }
      .flatMap { $0.value.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    guard classes.contains("2") else { return false }
    func lock() async throws -> HTTPService.Response {
      try await ask("LOCK", name, Self.lockHeaders(name), WebDAVLock.request)
    }
    guard let first = WebDAVLock(try await lock(), name: name, url: url(name)) else { return false }
    let other: HTTPService.Response
    do { other = try await lock() } catch {
      await unlock(first)
      throw error
    }
    if let second = WebDAVLock(other, name: name, url: url(name)) { await unlock(second) }
    await unlock(first)
    return WebDAVLock.isHeldByOthers(other)
  }
}
