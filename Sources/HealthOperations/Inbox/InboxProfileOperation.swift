import Foundation
import Logging
import OperatingSystem
import PeerServer
import PeerTrust
import ServiceLifecycle

/// Hands the profile of a home's inbox to one phone.
public struct InboxProfileOperation: Sendable {
  /// How a phone gets the profile.
  public struct Offer: Sendable {
    /// Good for one request.
    public let url: String
    /// Of the authority that the profile installs, to be compared with what the phone shows.
    public let authority: InboxAuthority
  }

  /// How long a connection may take to end once the offer has.
  private static let drainLimit = Duration.seconds(2)

  private let authority: InboxAuthority
  private let logger: Logger

  /// Makes the authority where there is none.
  ///
  /// - Parameter replaces: makes a new one in any case.
  public init(_ home: Home, replaces: Bool = false, logger: Logger) async throws {
    self.logger = logger
    let directory = home.url
    authority = try await onThread { (_) throws(IdentityError) in
      try InboxAuthority.loadOrCreate(in: directory, for: .current, replaces: replaces)
    }
  }

  /// What it is of.
  public var names: InboxHostNames { authority.names }

  /// For a person who brings it to the phone in another way.
  public var profile: InboxProfile { InboxProfile(authority, host: Hostname.short) }

  /// Offers the profile until a phone has fetched it.
  ///
  /// - Parameters:
  ///   - host: the address to bind, and in the URL; `nil` for all, and this machine's first.
  ///   - port: 0 for any that is free.
  ///   - lifetime: after which the offer ends.
  ///   - tell: told where it is.
  /// - Returns: whether it was fetched.
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
        // A server that is cancelled takes that for errors of its own: it is asked to end instead.
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
      // The answer that is on its way is sent first.
      await group.triggerGracefulShutdown()
      while case .success(.some)? = await tasks.nextResult() {}
      if result != true { try Task.checkCancellation() }
      return result ?? false
    }
  }
}
