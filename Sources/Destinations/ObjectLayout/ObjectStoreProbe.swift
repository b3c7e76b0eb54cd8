import Foundation

/// A check that a place stores, returns, protects and deletes objects.
enum ObjectStoreProbe {
  /// Writes an object with a unique name, tries to overwrite it as ``ObjectStore`` forbids, and deletes it.
  ///
  /// - Parameters:
  ///   - prefix: empty, or a path with a `/` at its end.
  ///   - needsConditions: whether to refuse a place that ignores the conditions of writes.
  /// - Throws: ``DeliveryError``, whose reason explains the problem.
  static func run(_ store: some ObjectStore, prefix: String, needsConditions: Bool) async throws {
    let name = "\(prefix).hpeer-probe-\(UUID().uuidString.lowercased())"
    let (first, second) = (Array("hpeer".utf8), Array("hpeer was here".utf8))
    try await DestinationProbe.run {
      try await put(store, first, at: name, if: .absent)
    } examine: {
      try await examine(store, name, first, second, needsConditions: needsConditions)
    } remove: {
      try await store.delete(name)
    }
    if try await store.get(name) != nil {
      throw DeliveryError.unusable(reason: "it does not delete what it is told to (\(name))")
    }
  }

  private static func examine(
    _ store: some ObjectStore, _ name: String, _ first: [UInt8], _ second: [UInt8], needsConditions: Bool
  ) async throws {
    guard let object = try await store.get(name), object.bytes == first else {
      throw DeliveryError.unusable(reason: "it does not give back what was written to it (\(name))")
    }
    guard needsConditions else { return }
    do {
      try await store.put(second, at: name, contentType: "text/plain", if: .absent)
      throw DeliveryError.unusable(
        reason: "it overwrites what is there although it was told not to (If-None-Match), so two writers would lose "
          + "each other's samples")
    } catch is ObjectConflict {}
    do {
      let other = ObjectVersion(rawValue: String(object.version.rawValue.map { $0.isHexDigit ? "0" : $0 }))
      try await store.put(second, at: name, contentType: "text/plain", if: .unchanged(other))
      throw DeliveryError.unusable(
        reason: "it overwrites what has changed although it was told not to (If-Match), so two writers would lose each "
          + "other's samples")
    } catch is ObjectConflict {}
    try await put(store, second, at: name, if: .unchanged(object.version))
  }

  private static func put(
    _ store: some ObjectStore, _ bytes: [UInt8], at name: String, if condition: PutCondition
  ) async throws {
    do {
      try await store.put(bytes, at: name, contentType: "text/plain", if: condition)
    } catch is ObjectConflict {
      // Only this writer has the name: a proxy has sent the request twice, and this is the second answer.
      if try await store.get(name)?.bytes == bytes { return }
      throw DeliveryError.unusable(reason: "it refuses a write whose condition holds (\(name))")
    }
  }
}
