import Foundation

/// A row of /proc/net/{udp,udp6,tcp,tcp6}; see proc(5).
public struct SocketEntry: Hashable, Sendable {
  /// The local address in network byte order: 4 bytes or 16.
  public let address: [UInt8]
  /// The local port.
  public let port: UInt16
  /// Whether the socket is in the state `LISTEN`. Only TCP sockets can be; UDP sockets that receive are not.
  public let isListening: Bool
  /// The user id of the socket's owner.
  public let user: UInt32
  /// The inode by which ``SocketOwner/find(of:)`` finds the owner; 0 if no process holds the socket any more.
  public let inode: UInt64

  /// Returns all rows of a table, skipping lines that cannot be parsed.
  public static func parse(_ table: String) -> [SocketEntry] {
    table.split(separator: "\n").dropFirst().compactMap { SocketEntry(line: $0) }
  }

  private init?(line: Substring) {
    let fields = line.split(separator: " ", omittingEmptySubsequences: true)
    guard fields.count >= 10, let user = UInt32(fields[7]), let inode = UInt64(fields[9]) else { return nil }
    let local = fields[1].split(separator: ":")
    guard local.count == 2, let port = UInt16(local[1], radix: 16), [8, 32].contains(local[0].utf8.count) else {
      return nil
    }
    var address: [UInt8] = []
    var rest = local[0]
    // Each group of four bytes is printed as a number in this machine's byte order.
    while !rest.isEmpty {
      guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
      withUnsafeBytes(of: word) { address += $0 }
      rest = rest.dropFirst(8)
    }
    self.address = address
    self.port = port
    self.isListening = fields[3] == "0A"
    self.user = user
    self.inode = inode
  }

  /// Whether the socket is bound to `0.0.0.0` or `::`, and so reachable from other machines unless a firewall blocks
  /// it.
  public var isForAllAddresses: Bool { address.allSatisfy { $0 == 0 } }

  /// The address in dotted form, or nil for IPv6.
  public var ipv4: String? {
    address.count == 4 ? address.map(String.init).joined(separator: ".") : nil
  }
}

/// A process that holds a socket.
public struct SocketOwner: Hashable, Sendable {
  public let pid: Int32
  /// The process name, at most 15 bytes: the kernel's `comm`, which the process itself chooses.
  public let name: String

  public init(pid: Int32, name: String) {
    self.pid = pid
    self.name = name
  }

  /// Returns the owners of sockets by inode. Searches the file descriptors of all processes that this user may
  /// inspect.
  public static func find(of inodes: Set<UInt64>) -> [UInt64: SocketOwner] {
    var owners: [UInt64: SocketOwner] = [:]
    let manager = FileManager.default
    for entry in (try? manager.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard owners.count < inodes.count, let pid = Int32(entry) else { continue }
      let directory = "/proc/\(pid)/fd"
      for file in (try? manager.contentsOfDirectory(atPath: directory)) ?? [] {
        guard let target = try? manager.destinationOfSymbolicLink(atPath: "\(directory)/\(file)"),
          target.hasPrefix("socket:["), let inode = UInt64(target.dropFirst(8).dropLast()), inodes.contains(inode),
          owners[inode] == nil
        else { continue }
        let name = (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? ""
        owners[inode] = SocketOwner(pid: pid, name: name.trimmingCharacters(in: .newlines))
      }
    }
    return owners
  }
}
