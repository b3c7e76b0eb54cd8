import Foundation
import OperatingSystem
import Testing

@Suite("What the system tells")
struct ProbeTests {
  @Test("a program of the system: what it prints, how it ends, that it is there")
  func commands() async {
    #expect(await CommandRunner.run("echo", ["a", "b"]).output == "a b\n")
    guard case .finished(let status, _, let errors) = await CommandRunner.run("ls", ["/nonexistent"]) else {
      Issue.record("ls did not end")
      return
    }
    #expect(status != 0 && errors.contains("No such file"))
    #expect(await CommandRunner.run("no-such-program", []) == .absent)
    #expect(await CommandRunner.run("sh", ["-c", "echo x"]).output == "x\n")
  }

  @Test("a program that does not end is ended", .timeLimit(.minutes(5)))
  func stuckCommand() async {
    #expect(await CommandRunner.run("sleep", ["1000"], limit: 0.2) == .failed)
  }

  @Test("files: read, absent, not readable as one")
  func files() {
    #expect(FileContents(path: "/nonexistent/x") == .absent)
    #expect(FileContents(path: "/") == .unreadable)
    guard case .text(let locks) = FileContents(path: "/proc/self/status") else {
      Issue.record("no status")
      return
    }
    #expect(locks.contains("Pid:"))
  }

  @Test("the loopback is an interface that leads nowhere")
  func interfaces() throws {
    let loopback = try #require(NetworkInterface.all().first { $0.isLoopback })
    #expect(!loopback.leadsOut)
    #expect(loopback.address == nil || loopback.address?.bytes.first == 127)
    #expect(!NetworkInterface(name: "docker0", address: IPv4Address("172.17.0.1")).leadsOut)
    #expect(NetworkInterface(name: "wlan0", address: IPv4Address("192.168.1.20")).leadsOut)
  }

  @Test("addresses")
  func addresses() throws {
    #expect(IPv4Address("10.77.0.1")?.description == "10.77.0.1")
    for text in ["", "1.2.3", "1.2.3.4.5", "1.2.3.256", "a.b.c.d", "1..2.3"] { #expect(IPv4Address(text) == nil) }
    let address = try #require(IPv4Address("192.168.1.20"))
    #expect(address.isIn(IPv4Address(value: 0xC0A8_0000), prefixLength: 16))
    #expect(!address.isIn(IPv4Address(value: 0xC0A8_0200), prefixLength: 24))
    #expect(address.isIn(IPv4Address(value: 0), prefixLength: 0))
  }

  @Test("a real disk has a size and a place")
  func reality() throws {
    let space = try #require(DiskSpace(path: "/proc/self"))
    #expect(space.mountPoint == "/proc")
    #expect(try #require(DiskSpace(path: NSTemporaryDirectory())).bytes > 0)
    #expect(DiskSpace(path: "/nonexistent") == nil)
  }

  @Test("addresses of this machine that others can reach are no loopback, and link-local ones are apart")
  func localAddresses() {
    #expect(!LocalAddress.all().contains { $0.hasPrefix("127.") || $0 == "::1" || $0.hasPrefix("fe80:") })
    #expect(LocalAddress.linkLocal().allSatisfy { $0.hasPrefix("fe80:") && $0.contains("%") })
    let own = NetworkInterface.all().filter { $0.isUp && !$0.isLoopback }.compactMap(\.address?.description)
    #expect(Set(own).isSubset(of: LocalAddress.all()))
  }

  @Test("a process has a name")
  func processNames() {
    #expect(ProcessName.of(getpid()).hasSuffix(" (process \(getpid()))"))
    #expect(ProcessName.of(Int32.max) == "process \(Int32.max)")
  }
}
