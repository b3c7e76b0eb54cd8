import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// Stops and begins answering paired machines, together with the audit event that says so. Takes effect within a second, and
/// lasts until it is taken back, whichever server runs.
public struct ServingLock: Sendable {
  private let registry: PeerRegistry
  private let store: HealthStore

  /// - Parameter store: whose audit log has it.
  public init(_ registry: PeerRegistry, auditedIn store: HealthStore) {
    self.registry = registry
    self.store = store
  }

  /// Since when nobody is answered; `nil` where that is not so.
  public var since: Date? { get async throws { try await registry.lockedSince() } }

  /// Whom a restored machine waits for before it answers; `nil` where it waits for nobody. Where nobody is left to wait
  /// for, it is unlocked.
  public func restoration() async throws -> Restoration? {
    guard let restoration = try await registry.restoration() else { return nil }
    guard restoration.servers.isEmpty, restoration.clients.isEmpty else { return restoration }
    try await endRestoration()
    return nil
  }

  /// Ends that waiting. One that its owner has locked stays locked.
  public func endRestoration() async throws {
    try await uncancelled {
      guard try await registry.restoration() != nil else { return }
      try await store.audit.record(AuditEvent(.serverUnlocked, ["reason": "restored"]))
      try await registry.endRestoration()
    }
  }

  /// - Returns: false where it was locked before.
  public func lock() async throws -> Bool {
    try await uncancelled {
      // First: a full disk must not keep anything open.
      guard try await registry.lock() else { return false }
      try await store.audit.record(AuditEvent(.serverLocked))
      return true
    }
  }

  /// - Returns: false where it was not locked.
  public func unlock() async throws -> Bool {
    try await uncancelled {
      guard try await registry.lockedSince() != nil else { return false }
      // First: what cannot be written down is not opened.
      try await store.audit.record(AuditEvent(.serverUnlocked))
      return try await registry.unlock()
    }
  }
}
