import Foundation
import OperatingSystem

/// A check of the server's TCP port: whether the server can be reached there, or whether it is free or taken.
struct PortCheck: Check {
  let id = "port"
  let title = "the port"
  var subject: Subject
  var machine: Machine
  var server: @Sendable (String, Machine) -> ServeProcess? = ServeProcess.init(home:machine:)
  /// Connects to a port. Returns 0, or an `errno` value.
  var connect: @Sendable (IPv4Address, UInt16) -> Int32 = { SocketProbe.connect(to: $0, port: $1) }

  /// The user ID of the server process.
  var user = geteuid()

  init(subject: Subject, machine: Machine) {
    self.subject = subject
    self.machine = machine
  }

  func findings() async -> [Finding] {
    await onThread { _ in look() }
  }

  private func look() -> [Finding] {
    let listening = machine.sockets("tcp").filter(\.isListening)
    guard let process = server(subject.home, machine) else { return [withoutServer(listening)] }
    let owners = machine.owners(Set(listening.map(\.inode)))
    // The server's memory is private, so even its own user cannot see which sockets belong to it.
    let hidden = listening.filter { owners[$0.inode] == nil && $0.user == user }
    let visible = listening.filter { owners[$0.inode]?.pid == process.pid }
    let own = visible.isEmpty ? hidden : visible
    guard let socket = own.first(where: { $0.port == subject.port }) ?? own.first else {
      return [
        Finding(
          .warning, "port.silent",
          "`hpeer serve` runs (process \(process.pid)), but listens on no port that can be seen",
          remedy: "`hpeer status` asks it; if it does not answer: stop it and start it again")
      ]
    }
    return [reachability(socket, process)]
  }

  private func reachability(_ socket: SocketEntry, _ process: ServeProcess) -> Finding {
    let address = socket.isForAllAddresses ? "127.0.0.1" : socket.ipv4
    let code = address.flatMap { IPv4Address($0) }.map { connect($0, socket.port) } ?? 0
    guard code == 0 else {
      return Finding(
        .blocking, "port.unreachable",
        "`hpeer serve` listens on port \(socket.port), but cannot be reached there (\(SystemMessage.text(code)))",
        remedy: code == ETIMEDOUT || code == EPERM || code == EHOSTUNREACH
          ? "a firewall on this machine is in between, even for itself: see the line about the firewall"
          : "stop `hpeer serve` (process \(process.pid)) and start it again")
    }
    if socket.address.first == 127 {
      return Finding(
        .warning, "port.loopback", "`hpeer serve` listens on port \(socket.port) for this machine only",
        remedy: "start it without --bind \(address ?? "")")
    }
    return Finding(
      .ok, "port.served", "`hpeer serve` (process \(process.pid)) listens on port \(socket.port) and answers")
  }

  private func withoutServer(_ listening: [SocketEntry]) -> Finding {
    let port = subject.port
    let taken = listening.filter { $0.port == port }
    guard let socket = taken.first else {
      return Finding(.ok, "port.free", "Port \(port) is free; `hpeer serve` is not running for \(subject.home)")
    }
    let owner = machine.owners(Set(taken.map(\.inode))).values.first
    let user = machine.userName(socket.user)
    let who = owner.map { "\($0.name) (process \($0.pid))" } ?? "a program of the user \(user ?? String(socket.user))"
    return Finding(
      subject.onlyPulls ? .warning : .blocking, "port.taken", "Port \(port) is taken by \(who)",
      remedy: "take another: hpeer serve --port \(port == .max ? port - 1 : port + 1)"
        + (owner.map { "; or end that program: kill \($0.pid)" } ?? ""))
  }
}
