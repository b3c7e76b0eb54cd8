import Foundation

/// A namespace for blocking TCP sockets on loopback.
public enum TCPSocket {
  public static func make() throws -> Int32 {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    return descriptor
  }

  /// Binds to a free port, listens on it and returns the port.
  public static func listen(_ descriptor: Int32, backlog: Int32 = 64) throws -> Int {
    guard withAddress(port: 0, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, backlog) == 0 else {
      throw POSIXError(.EADDRINUSE)
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Returns a port on which nothing listens. The kernel doesn't soon reuse a port that it has just assigned.
  public static func freePort() throws -> Int {
    let descriptor = try make()
    defer { close(descriptor) }
    return try listen(descriptor)
  }

  public static func connect(to port: Int) -> Int32? {
    guard let descriptor = try? make() else { return nil }
    guard withAddress(port: port, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      return nil
    }
    return withoutDelay(descriptor)
  }

  public static func accept(_ listener: Int32) -> Int32? {
    let descriptor = Glibc.accept(listener, nil, nil)
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return withoutDelay(descriptor)
  }

  /// Waits for bytes and returns them, or `nil` at the end of the stream or on an error.
  public static func read(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  /// Writes all bytes. Returns whether that succeeded.
  public static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = send(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, CInt(MSG_NOSIGNAL))
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  /// Ends a connection with RST. Linux does so when a socket is connected to AF_UNSPEC (connect(2)).
  public static func reset(_ descriptor: Int32) {
    var nowhere = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    _ = Glibc.connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
  }

  private static func withoutDelay(_ descriptor: Int32) -> Int32 {
    var one: CInt = 1
    setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    return descriptor
  }

  private static func withAddress(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }
}
