import Foundation
import OperatingSystem
import Testing

@testable import Diagnosis

@Suite("The port")
struct PortTests {
  private func table(_ port: UInt16, address: String = "00000000") -> [String: String] {
    let row =
      "   1: \(address):\(String(port, radix: 16, uppercase: true)) 00000000:0000 0A 00000000:00000000 "
      + "00:00000000 00000000  1000        0 777 1 0000000000000000 100 0 0 10 0"
    return ["/proc/self/net/tcp": "  sl  local_address rem_address\n\(row)\n"]
  }

  private func findings(
    _ files: [String: String], server: Int32?, owner: SocketOwner?, connects: Int32 = 0
  ) async -> [Finding] {
    let machine = Machine.fake(files: files, owners: owner.map { [777: $0] } ?? [:], users: [1000: "anna"])
    var check = PortCheck(subject: .test(), machine: machine)
    check.server = { _, _ in
      server.flatMap { ServeProcess(locks: "1: FLOCK  ADVISORY  WRITE \($0) fe:00:5 0 EOF", inode: 5, file: "\($0)\n") }
    }
    check.connect = { _, _ in connects }
    return await check.findings()
  }

  @Test("free, taken by a program that can be seen, and by one that cannot")
  func withoutServer() async throws {
    #expect(await findings([:], server: nil, owner: nil).ids == ["port.free"])
    let taken = try #require(await findings(table(8737), server: nil, owner: .init(pid: 9, name: "nginx")).first)
    #expect(taken.id == "port.taken" && taken.severity == .blocking)
    #expect(taken.text.contains("nginx (process 9)"))
    #expect(taken.remedy?.contains("hpeer serve --port 8738") == true)
    #expect(await findings(table(8737), server: nil, owner: nil).first?.text.contains("anna") == true)
  }

  @Test("our server: answers, does not answer, listens for this machine only, listens nowhere")
  func withServer() async throws {
    let own = SocketOwner(pid: 9, name: "hpeer")
    #expect(await findings(table(8737), server: 9, owner: own).ids == ["port.served"])
    #expect(await findings(table(9999), server: 9, owner: own).first?.text.contains("port 9999") == true)
    let dead = await findings(table(8737), server: 9, owner: own, connects: ECONNREFUSED)
    #expect(dead.ids == ["port.unreachable"] && !dead.areHealthy)
    #expect(await findings(table(8737, address: "0100007F"), server: 9, owner: own).ids == ["port.loopback"])
    #expect(await findings([:], server: 9, owner: nil).ids == ["port.silent"])
  }

  @Test("a lock file that nobody holds is no server")
  func staleLock() {
    let locks = "1: POSIX  ADVISORY  READ 5443 fe:00:1351971 128 128\n2: FLOCK  ADVISORY  WRITE 9 fe:00:41 0 EOF\n"
    #expect(ServeProcess(locks: locks, inode: 41, file: "9\n")?.pid == 9)
    #expect(ServeProcess(locks: locks, inode: 42, file: "9\n") == nil)
    #expect(ServeProcess(locks: locks, inode: 1_351_971, file: "5443\n") == nil)
    #expect(ServeProcess(locks: locks, inode: 41, file: "") == nil)
  }

  @Test("a real lock and a real listener of this process are seen, and connected to")
  func reality() async throws {
    let home = try TemporaryHome()
    try home.write("serve.lock", "\(getpid())\n")
    let lock = open(home.path + "/serve.lock", O_RDONLY)
    defer { close(lock) }
    #expect(ServeProcess(home: home.path, machine: .real) == nil)
    #expect(flock(lock, LOCK_EX) == 0)
    #expect(ServeProcess(home: home.path, machine: .real)?.pid == getpid())

    let listener = try Listener()
    let found = await PortCheck(subject: .test(home: home.path, port: listener.port), machine: .real).findings()
    #expect(found.ids == ["port.loopback"])
    #expect(found.first?.text.contains("\(listener.port)") == true)
    let other = try TemporaryHome()
    let taken = await PortCheck(subject: .test(home: other.path, port: listener.port), machine: .real).findings()
    #expect(taken.ids == ["port.taken"])
    #expect(taken.first?.text.contains("process \(getpid())") == true)
  }
}

/// A TCP socket that listens on a free loopback port.
final class Listener: Sendable {
  private let descriptor: Int32
  let port: UInt16

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isReady = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isReady else { throw POSIXError(.EADDRINUSE) }
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }
}
