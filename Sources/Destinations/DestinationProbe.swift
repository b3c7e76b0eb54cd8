import OperatingSystem

/// Something that is written to a place to find out whether it takes it.
enum DestinationProbe {
  /// How long it is tried to take away what an attempt that failed may have left.
  private static let patience = Duration.seconds(5)

  /// Writes it and takes it away, whatever comes of that.
  ///
  /// - Parameters:
  ///   - examine: looks at what was written.
  ///   - remove: does nothing where there is nothing.
  /// - Throws: what went wrong first, which is what a person must know.
  static func run(
    write: () async throws -> Void, examine: () async throws -> Void = {},
    remove: @escaping @Sendable () async throws -> Void
  ) async throws {
    do {
      try await write()
    } catch {
      // It may be there, and the answer lost.
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

  /// Whether the place has said no, and would say so again.
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
