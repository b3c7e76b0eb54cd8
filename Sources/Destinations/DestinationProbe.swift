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
      switch error as? DeliveryError {
      // The place has said no.
      case .refused, .unusable: break
      // It may be there, and the answer lost.
      case .temporary, nil: await removeWhatIsLeft(remove)
      }
      throw error
    }
    do {
      try await examine()
      try await remove()
    } catch {
      await removeWhatIsLeft(remove)
      throw error
    }
  }

  private static func removeWhatIsLeft(_ remove: @escaping @Sendable () async throws -> Void) async {
    try? await uncancelled { try await within(patience, orThrow: CancellationError(), remove) }
  }
}
