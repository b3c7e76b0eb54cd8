import Foundation
import OperatingSystem

@testable import Diagnosis

extension Machine {
  /// Returns a machine whose state a test determines.
  static func fake(
    files: [String: String] = [:], unreadable: Set<String> = [], commands: [String: CommandOutcome] = [:],
    owners: [UInt64: SocketOwner] = [:], users: [UInt32: String] = [:],
    interfaces: [NetworkInterface] = [.wireless], isRoot: Bool = false
  ) -> Machine {
    Machine(
      read: { path in
        unreadable.contains(path) ? .unreadable : files[path].map { .text($0) } ?? .absent
      },
      run: { name, arguments in commands[([name] + arguments).joined(separator: " ")] ?? commands[name] ?? .absent },
      owners: { inodes in owners.filter { inodes.contains($0.key) } },
      userName: { users[$0] }, interfaces: { interfaces }, isRoot: isRoot)
  }
}

extension CommandOutcome {
  static func printed(_ output: String) -> CommandOutcome { .finished(status: 0, output: output, errors: "") }
}

extension NetworkInterface {
  static let wireless = NetworkInterface(name: "wlan0", index: 3, address: IPv4Address("192.168.1.20"))
  static let wired = NetworkInterface(name: "eth0", index: 2, address: IPv4Address("10.77.0.1"))
  static let loopback = NetworkInterface(
    name: "lo", index: 1, address: IPv4Address("127.0.0.1"), prefixLength: 8, isLoopback: true, takesMulticast: false)
}

extension Subject {
  /// Returns a subject whose home doesn't exist, unless a test names one.
  static func test(
    home: String = "/nonexistent/hpeer-tests", port: UInt16 = 8737, isPortChosen: Bool = false,
    checksStore: Bool = false, now: Date = Date()
  ) -> Subject {
    Subject(
      home: home, socketPath: home + "/control.sock", port: port, isPortChosen: isPortChosen,
      checksStore: checksStore, now: now)
  }
}

extension [Finding] {
  var ids: [String] { map(\.id) }

  func first(_ id: String) -> Finding? { first { $0.id == id } }
}
