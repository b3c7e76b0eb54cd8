import Foundation

/// A row of /proc/net/{udp,udp6,tcp,tcp6}; see proc(5).
public struct SocketEntry: Hashable, Sendable {
  /// In network byte order: 4 bytes or 16.
  public let address: [UInt8]
  /// The local one, as people write it.
  public let port: UInt16
  /// In the state `LISTEN`, which only TCP has: a UDP socket that takes what comes is not.
  public let isListening: Bool
  /// The user id of the socket's owner.
  public let user: UInt32
  /// What ``SocketOwner/find(of:)`` knows it by; 0 where no process holds it any more.
  public let inode: UInt64

  /// All rows that can be read. Lines that cannot are passed over.
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
    // Groups of four bytes, each printed as a number of this machine's byte order.
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

  /// Whether it is bound to `0.0.0.0` or `::`, and so can be reached from outside where no firewall is.
  public var isForAllAddresses: Bool { address.allSatisfy { $0 == 0 } }

  /// Dotted, or nil for IPv6.
  public var ipv4: String? {
    address.count == 4 ? address.map(String.init).joined(separator: ".") : nil
  }
}

/// A process that holds a socket.
public struct SocketOwner: Hashable, Sendable {
  public let pid: Int32
  /// At most 15 bytes, the kernel's `comm`: chosen by the process itself.
  public let name: String

  public init(pid: Int32, name: String) {
    self.pid = pid
    self.name = name
  }

  /// Looks through the file descriptors of all processes that this user may look at.
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
