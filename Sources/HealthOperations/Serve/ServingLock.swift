import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// The lock that stops answering paired machines, together with the audit event for each change. A change takes
/// effect within a second. The lock lasts until it is removed, even if another server process starts.
public struct ServingLock: Sendable {
  private let registry: PeerRegistry
  private let store: HealthStore

  /// Creates an interface to the lock.
  ///
  /// - Parameter store: its audit log records every change.
  public init(_ registry: PeerRegistry, auditedIn store: HealthStore) {
    self.registry = registry
    self.store = store
  }

  /// The time at which the lock was set; `nil` if it is not set.
  public var since: Date? { get async throws { try await registry.lockedSince() } }

  /// Returns the machines that a restored machine waits for before it serves again, or `nil` if it does not wait. If
  /// no machine is left to wait for, removes the lock.
  public func restoration() async throws -> Restoration? {
    guard let restoration = try await registry.restoration() else { return nil }
    guard restoration.servers.isEmpty, restoration.clients.isEmpty else { return restoration }
    try await endRestoration()
    return nil
  }

  /// Ends the wait after a restore. A lock that the owner has set stays.
  public func endRestoration() async throws {
    try await uncancelled {
      guard try await registry.restoration() != nil else { return }
      try await store.audit.record(AuditEvent(.serverUnlocked, ["reason": "restored"]))
      try await registry.endRestoration()
    }
  }

  /// Sets the lock.
  ///
  /// - Returns: `false` if it was set before.
  public func lock() async throws -> Bool {
    try await uncancelled {
      // The lock comes before the audit event, so that a full disk does not leave the record open.
      guard try await registry.lock() else { return false }
      try await store.audit.record(AuditEvent(.serverLocked))
      return true
    }
  }

  /// Removes the lock.
  ///
  /// - Returns: `false` if it was not set.
  public func unlock() async throws -> Bool {
    try await uncancelled {
      guard try await registry.lockedSince() != nil else { return false }
      // The audit event comes first, so that nothing is opened without a record of it.
      try await store.audit.record(AuditEvent(.serverUnlocked))
      return try await registry.unlock()
    }
  }
}
