import HostilePeer

extension FuzzTarget {
  /// The input is what a hostile app on a phone decides while it is pulled from.
  @Sendable static func phone(_ input: [UInt8]) {
    do {
      _ = try Blocking { try await phoneTrials.run(Choices(bytes: input)) }.value()
    } catch {
      fatalError("broken promise: \(error)")
    }
  }

  private static let phoneTrials: PhoneTrials = {
    do {
      return try Blocking { try await PhoneTrials() }.value()
    } catch {
      fatalError("no trials: \(error)")
    }
  }()
}
