import NIOCore
import NIOPosix

/// The address and port on which a peer listens.
public struct PeerEndpoint: Hashable, Sendable {
  /// A host name or numeric address. A link-local IPv6 address includes its interface: `fe80::1%eth0`.
  public var host: String
  /// The port, from 1 to 65535 if it was parsed from text.
  public var port: Int

  /// Creates an endpoint without checks. Use ``init(_:defaultPort:)`` for typed text.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Parses `host`, `host:port`, `[v6]:port` or a bare IPv6 address.
  public init?(_ text: String, defaultPort: Int) {
    var host = Substring(text)
    var port = defaultPort
    if text.hasPrefix("[") {
      guard let close = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<close]
      let rest = text[text.index(after: close)...]
      if !rest.isEmpty {
        guard rest.hasPrefix(":"), let number = Self.number(rest.dropFirst()) else { return nil }
        port = number
      }
    } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
      guard let number = Self.number(text[text.index(after: colon)...]) else { return nil }
      host = text[..<colon]
      port = number
    }
    guard !host.isEmpty, host.allSatisfy({ !$0.isWhitespace }), (1...65_535).contains(port) else { return nil }
    self.init(host: String(host), port: port)
  }

  /// Parses digits only, because `Int` also accepts a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
  }
}

extension PeerEndpoint: CustomStringConvertible {
  public var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

/// A resolver that returns known addresses, which a bootstrap then tries like those of any name.
struct KnownAddresses: Resolver, Sendable {
  private let ipv4: [SocketAddress]
  private let ipv6: [SocketAddress]

  /// - Parameter addresses: numeric addresses; a link-local IPv6 address includes its interface.
  init(_ addresses: [String], port: Int) {
    // Numeric addresses are parsed without a lookup, so this does not block.
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
