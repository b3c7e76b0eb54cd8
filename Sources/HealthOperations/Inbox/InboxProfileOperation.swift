import Foundation
import Logging
import OperatingSystem
import PeerServer
import PeerTrust
import ServiceLifecycle

/// An operation that offers the configuration profile of a home's inbox to one phone.
public struct InboxProfileOperation: Sendable {
  /// An offer that is open for a phone.
  public struct Offer: Sendable {
    /// The URL, valid for one request.
    public let url: String
    /// The authority that the profile installs. Its fingerprint is compared with the one on the phone.
    public let authority: InboxAuthority
  }

  /// The time limit for open connections after the offer has ended.
  private static let drainLimit = Duration.seconds(2)

  private let authority: InboxAuthority
  private let logger: Logger

  /// Creates an operation, and the home's authority if there is none.
  ///
  /// - Parameter replaces: creates a new authority in any case.
  public init(_ home: Home, replaces: Bool = false, logger: Logger) async throws {
    self.logger = logger
    let directory = home.url
    authority = try await onThread { (_) throws(IdentityError) in
      try InboxAuthority.loadOrCreate(in: directory, for: .current, replaces: replaces)
    }
  }

  /// The names and addresses that the authority's certificates are valid for.
  public var names: InboxHostNames { authority.names }

  /// The profile, for a person who transfers it to the phone in another way.
  public var profile: InboxProfile { InboxProfile(authority, host: Hostname.short) }

  /// Offers the profile until a phone has fetched it.
  ///
  /// - Parameters:
  ///   - host: the address to bind and to use in the URL; `nil` binds all addresses and uses this machine's first.
  ///   - port: 0 for any free port.
  ///   - lifetime: the duration of the offer.
  ///   - tell: called with the offer when it is open.
  /// - Returns: whether the profile was fetched.
  public func run(
    host: String?, port: Int, lifetime: Duration, tell: @escaping @Sendable (Offer) -> Void
  ) async throws -> Bool {
    let path = "/\(BearerToken.random().text.prefix(22))/hpeer.mobileconfig"
    let address = host ?? LocalAddress.all().first ?? "127.0.0.1"
    let named = address.contains(":") ? "[\(address)]" : address
    let authority = authority
    let (served, whenServed) = AsyncStream.makeStream(of: Bool.self)
    let server = InboxProfileServer(
      profile, host: host, port: port, path: path, logger: logger,
      onListening: { port in tell(Offer(url: "http://\(named):\(port)\(path)", authority: authority)) },
      onServed: { whenServed.yield(true) })
    var configuration = ServiceGroupConfiguration(services: [server], logger: logger)
    configuration.maximumGracefulShutdownDuration = Self.drainLimit
    let group = ServiceGroup(configuration: configuration)
    return try await withThrowingTaskGroup(of: Bool?.self) { tasks in
      tasks.addTask {
        // A cancelled server would report errors, so it is shut down gracefully instead.
        try await uncancelled { try await group.run() }
        return nil
      }
      tasks.addTask { await served.first { _ in true } ?? false }
      tasks.addTask {
        try? await Task.sleep(for: lifetime)
        return false
      }
      defer { tasks.cancelAll() }
      let result = try await tasks.next() ?? nil
      // Lets the server finish the answer that it is sending.
      await group.triggerGracefulShutdown()
      while case .success(.some)? = await tasks.nextResult() {}
      if result != true { try Task.checkCancellation() }
      return result ?? false
    }
  }
}
