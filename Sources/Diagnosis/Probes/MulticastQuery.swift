import Foundation
import OperatingSystem

/// A one-shot mDNS query (RFC 6762 section 5.1). It uses an ephemeral port, so that answers arrive by unicast
/// (section 6.7) and no second program listens on port 5353.
enum MulticastQuery {
  struct Result: Hashable, Sendable {
    /// The responders that answered, by the name of the interface on which they were asked.
    var answers: [String: Set<IPv4Address>] = [:]
    /// The `errno` values of the interfaces on which the query could not be sent.
    var failures: [String: Int32] = [:]
  }

  private static let group: UInt32 = 0xE000_00FB  // 224.0.0.251
  private static let port: UInt16 = 5353
  /// The number of times the query is sent, because multicast loses packets.
  private static let rounds = 3

  /// Sends a query on every interface. Blocks until another machine has answered on each, at most for `seconds`.
  static func ask(_ questions: [String], on interfaces: [NetworkInterface], seconds: Double) -> Result {
    let identifier = UInt16.random(in: 1...UInt16.max)
    let message = self.message(questions, identifier: identifier)
    let own = Set(interfaces.compactMap(\.address))
    var result = Result()
    var sockets: [(descriptor: Int32, name: String)] = []
    defer { for socket in sockets { close(socket.descriptor) } }
    for interface in interfaces {
      let descriptor = open(on: interface)
      if descriptor >= 0 {
        sockets.append((descriptor, interface.name))
      } else {
        result.failures[interface.name] = errno
      }
    }
    let start = ContinuousClock.now
    for round in 1...rounds {
      for socket in sockets where !send(message, through: socket.descriptor) {
        result.failures[socket.name] = errno
      }
      let deadline = start + .seconds(seconds * Double(round) / Double(rounds))
      while ContinuousClock.now < deadline {
        let left = (deadline - ContinuousClock.now).components
        let milliseconds = Int32(left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000) + 1
        var entries = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { continue }
        for (entry, socket) in zip(entries, sockets) where entry.revents != 0 {
          if let sender = receive(from: socket.descriptor, identifier: identifier) {
            result.answers[socket.name, default: []].insert(sender)
          }
        }
        if sockets.allSatisfy({ !(result.answers[$0.name] ?? []).subtracting(own).isEmpty }) { return result }
      }
    }
    return result
  }

  /// Returns a DNS query for PTR records (RFC 1035 section 4). Names are dotted; their labels have 1 to 63 bytes.
  static func message(_ questions: [String], identifier: UInt16) -> [UInt8] {
    var bytes = [UInt8(identifier >> 8), UInt8(identifier & 0xFF), 0, 0]
    bytes += [UInt8(questions.count >> 8), UInt8(questions.count & 0xFF), 0, 0, 0, 0, 0, 0]
    for question in questions {
      for label in question.split(separator: ".") { bytes += [UInt8(label.utf8.count & 0x3F)] + Array(label.utf8) }
      bytes += [0, 0, 12, 0, 1]
    }
    return bytes
  }

  /// Returns whether the bytes are the start of a response to a query with this identifier.
  static func isAnswer(_ bytes: some Collection<UInt8>, identifier: UInt16) -> Bool {
    let header = Array(bytes.prefix(12))
    return header.count == 12 && header[0] == UInt8(identifier >> 8) && header[1] == UInt8(identifier & 0xFF)
      && header[2] & 0x80 != 0
  }

  private static func open(on interface: NetworkInterface) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return -1 }
    var request = ip_mreqn()
    request.imr_ifindex = Int32(interface.index)
    request.imr_address.s_addr = interface.address?.value.bigEndian ?? 0
    let size = socklen_t(MemoryLayout<ip_mreqn>.size)
    var hops: Int32 = 255
    let address = SocketAddress(interface.address ?? IPv4Address(value: 0))
    guard setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &request, size) == 0,
      setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, &hops, 4) == 0,
      address.withPointer({ bind(descriptor, $0, $1) }) == 0
    else {
      let code = errno
      close(descriptor)
      errno = code
      return -1
    }
    return descriptor
  }

  private static func send(_ message: [UInt8], through descriptor: Int32) -> Bool {
    let address = SocketAddress(IPv4Address(value: group), port: port)
    return address.withPointer { sendto(descriptor, message, message.count, 0, $0, $1) } == message.count
  }

  private static func receive(from descriptor: Int32, identifier: UInt16) -> IPv4Address? {
    var buffer = [UInt8](repeating: 0, count: 9000)
    let capacity = buffer.count
    var sender = SocketAddress()
    let count = sender.withMutablePointer {
      recvfrom(descriptor, &buffer, capacity, Int32(MSG_DONTWAIT), $0, $1)
    }
    guard count > 0, sender.port == port,
      isAnswer(buffer[..<count], identifier: identifier)
    else { return nil }
    return sender.address
  }
}
