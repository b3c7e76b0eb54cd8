import HostilePeer

extension FuzzTarget {
  /// Fuzzes a pull from a phone. The input determines the behaviour of a hostile app.
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
