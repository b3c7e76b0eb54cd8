import NIOCore
import NIOPosix

/// Addresses that have been looked up already, for a bootstrap to try as it tries those of any name.
struct KnownAddresses: Resolver, Sendable {
  private let ipv4: [SocketAddress]
  private let ipv6: [SocketAddress]

  /// - Parameter addresses: numeric; a link-local IPv6 address with its interface.
  init(_ addresses: [String], port: Int) {
    // Numeric ones are only read: nothing is asked, so nothing blocks.
    let all = addresses.compactMap { try? SocketAddress.makeAddressResolvingHost($0, port: port) }
    ipv4 = all.filter { $0.protocol == .inet }
    ipv6 = all.filter { $0.protocol == .inet6 }
  }

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { future(ipv4) }

  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { future(ipv6) }

  func cancelQueries() {}

  private func future(_ addresses: [SocketAddress]) -> EventLoopFuture<[SocketAddress]> {
    MultiThreadedEventLoopGroup.singleton.next().makeSucceededFuture(addresses)
  }
}
