import OperatingSystem

/// A probe that is written to a place and removed again to find out whether the place accepts deliveries.
enum DestinationProbe {
  /// The time limit for removing what a failed attempt may have left.
  private static let patience = Duration.seconds(5)

  /// Writes the probe, examines it and removes it; also removes it after a failure.
  ///
  /// - Parameters:
  ///   - examine: checks what was written.
  ///   - remove: does nothing if there is no probe.
  /// - Throws: the first error, which is the one that a person needs to know.
  static func run(
    write: () async throws -> Void, examine: () async throws -> Void = {},
    remove: @escaping @Sendable () async throws -> Void
  ) async throws {
    do {
      try await write()
    } catch {
      // The probe may have been written although the answer was lost.
      if !isRefusal(error) { await removeWhatIsLeft(remove) }
      throw error
    }
    do {
      try await examine()
    } catch {
      await removeWhatIsLeft(remove)
      throw error
    }
    do {
      try await remove()
    } catch {
      if !isRefusal(error) { await removeWhatIsLeft(remove) }
      throw error
    }
  }

  /// Returns whether the place has refused, and would refuse again.
  private static func isRefusal(_ error: any Error) -> Bool {
    switch error as? DeliveryError {
    case .refused, .unusable: true
    case .temporary, nil: false
    }
  }

  private static func removeWhatIsLeft(_ remove: @escaping @Sendable () async throws -> Void) async {
    try? await uncancelled { try await within(patience, orThrow: CancellationError(), remove) }
  }
}
