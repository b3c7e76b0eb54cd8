/// A client's first TLS message (RFC 8446 section 4.1.2, RFC 5246 section 7.4.1.2), as far as the server needs it.
public struct ClientHello: Hashable, Sendable {
  /// The `ProtocolNameList` without its length (RFC 7301 section 3.1); empty without the extension.
  private let protocolNames: [UInt8]

  /// Parses a ClientHello without its type and length, or returns `nil` if the message is invalid.
  init?(message: ArraySlice<UInt8>) {
    var hello = OpaqueVectors(message)
    // Skips the version and the random.
    guard hello.take(2) != nil, hello.take(32) != nil,
      let session = hello.vector(lengthBytes: 1), session.count <= 32,
      let cipherSuites = hello.vector(lengthBytes: 2), !cipherSuites.isEmpty, cipherSuites.count.isMultiple(of: 2),
      let compressions = hello.vector(lengthBytes: 1), !compressions.isEmpty
    else { return nil }
    // TLS 1.2 allows a ClientHello that ends here.
    guard !hello.isAtEnd else {
      protocolNames = []
      return
    }
    guard let extensions = hello.vector(lengthBytes: 2), hello.isAtEnd else { return nil }
    guard let names = Self.protocolNames(in: extensions) else { return nil }
    protocolNames = names
  }

  /// Returns whether the client offers `name` in Application-Layer Protocol Negotiation (RFC 7301).
  public func offers(_ name: String) -> Bool {
    var names = OpaqueVectors(protocolNames[...])
    while let offered = names.vector(lengthBytes: 1) {
      if offered.elementsEqual(name.utf8) { return true }
    }
    return false
  }

  /// The IANA number of `application_layer_protocol_negotiation`.
  private static let protocolNegotiation = 16

  /// Returns the offered protocol names: empty without the extension, `nil` if an extension is malformed.
  private static func protocolNames(in list: ArraySlice<UInt8>) -> [UInt8]? {
    var extensions = OpaqueVectors(list)
    var found: [UInt8]?
    while !extensions.isAtEnd {
      guard let type = extensions.number(bytes: 2), let content = extensions.vector(lengthBytes: 2) else { return nil }
      guard type == protocolNegotiation else { continue }
      var negotiation = OpaqueVectors(content)
      guard found == nil, let names = negotiation.vector(lengthBytes: 2), negotiation.isAtEnd, areNames(names) else {
        return nil
      }
      found = Array(names)
    }
    return found ?? []
  }

  private static func areNames(_ list: ArraySlice<UInt8>) -> Bool {
    var names = OpaqueVectors(list)
    var count = 0
    while !names.isAtEnd {
      guard let name = names.vector(lengthBytes: 1), !name.isEmpty else { return false }
      count += 1
    }
    return count > 0
  }
}

/// A reader of TLS's presentation language: numbers, and vectors preceded by their lengths (RFC 8446 section 3).
private struct OpaqueVectors {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// Reads a big-endian number of at most three bytes.
  mutating func number(bytes count: Int) -> Int? {
    take(count)?.reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func vector(lengthBytes: Int) -> ArraySlice<UInt8>? {
    number(bytes: lengthBytes).flatMap { take($0) }
  }
}

/// The protocol names in TLS's Application-Layer Protocol Negotiation (RFC 7301). Either name means HTTP/1.1.
public enum NegotiatedProtocol {
  /// The name offered by clients that speak `hpeer/1` and have a certificate. The server requests a certificate only
  /// from these, because some apps abort the connection when asked for one.
  public static let hpeer = StatusData.protocolName
  /// The name that other clients offer, if any. The server does not ask them for a certificate.
  public static let http = "http/1.1"
}
