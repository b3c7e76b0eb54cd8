import Glibc
import OperatingSystem

/// An IPv4 address with a port, as used by socket calls (ip(7)).
struct SocketAddress {
  private var value = sockaddr_in()

  /// Creates an empty address, to be filled in by a call.
  init() {}

  init(_ address: IPv4Address, port: UInt16 = 0) {
    value.sin_family = sa_family_t(AF_INET)
    value.sin_port = port.bigEndian
    value.sin_addr.s_addr = address.value.bigEndian
  }

  var address: IPv4Address { IPv4Address(value: UInt32(bigEndian: value.sin_addr.s_addr)) }
  var port: UInt16 { UInt16(bigEndian: value.sin_port) }

  /// Calls `body` with the address and its length in bytes, for calls that read an address.
  func withPointer<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    withUnsafePointer(to: value) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  /// Calls `body` with the address and its length in bytes, for calls that write an address.
  mutating func withMutablePointer<Value>(
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Value
  ) -> Value {
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &value) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
    }
  }
}
