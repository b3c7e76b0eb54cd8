import CLinux
import Foundation
import OperatingSystem
import TestSupport
import Testing

@Suite("The home and who else could get at it")
struct HomeDirectoryTests {
  private let scratch: TemporaryDirectory

  init() throws { scratch = try TemporaryDirectory() }

  private func make(_ path: String, _ mode: Int = 0o700) throws -> String {
    let path = scratch.path(path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  private func refusal(_ path: String) -> String? {
    do throws(SystemError) {
      try HomeDirectory.requirePrivate(path)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test("nobody else may write to it", arguments: [0o770, 0o720, 0o707, 0o702, 0o777, 0o1777])
  func writable(mode: Int) throws {
    let home = try make("home", mode)
    let reason = try #require(refusal(home))
    #expect(reason.contains("run: chmod go-w \(home)"), "\(reason)")
    #expect(throws: SystemError.self) { try PrivateFile.makeDirectory(home) }
  }

  @Test("others may look at its name", arguments: [0o700, 0o750, 0o755, 0o500])
  func closed(mode: Int) throws {
    #expect(refusal(try make("home", mode)) == nil)
  }

  @Test("nobody else may write to what leads there, unless they cannot rename what is not theirs")
  func parents() throws {
    _ = try make("a")
    let home = try make("a/b/c/home")
    #expect(refusal(home) == nil)
    let parent = try make("a/b", 0o777)
    #expect(refusal(home)?.contains("run: chmod go-w \(parent), or choose another") == true)
    _ = try make("a/b", 0o1777)
    #expect(refusal(home) == nil)
  }

  /// The access control list is that of `setfacl -m user:4711:rwx`, in the kernel's form (acl(5)).
  @Test("an access control list may let nobody else write to what leads there")
  func accessControlLists() throws {
    let home = try make("a/b/home")
    let parent = try make("a/b", 0o770)
    let isPrivateGroup = refusal(home) == nil
    var list: [UInt8] = [2, 0, 0, 0]
    let none: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    for (tag, rights, id) in [
      (1, 7, none), (2, 7, [0x67, 0x12, 0, 0]), (4, 5, none), (0x10, 7, none), (0x20, 5, none),
    ] {
      list += [UInt8(tag), 0, UInt8(rights), 0] + id
    }
    guard setxattr(parent, "system.posix_acl_access", list, list.count, 0) == 0 else {
      // Not every file system has them.
      #expect(errno == EOPNOTSUPP)
      return
    }
    #expect(refusal(home)?.contains("run: chmod go-w \(parent), or choose another") == true)
    #expect(chmod(parent, 0o755) == 0)
    #expect(refusal(home) == nil)
    #expect(chmod(parent, 0o770) == 0)
    #expect(removexattr(parent, "system.posix_acl_access") == 0)
    #expect((refusal(home) == nil) == isPrivateGroup)
  }

  @Test("neither may another user own it, or what leads there", .enabled(if: geteuid() == 0, "needs root"))
  func owners() throws {
    let home = try make("a/b/home")
    for path in ["a/b/home", "a/b", "a"] {
      #expect(chown(scratch.path(path), 4711, 0) == 0)
      #expect(refusal(home)?.contains("belongs to another user (4711)") == true, "\(path)")
      #expect(chown(scratch.path(path), 0, 0) == 0)
    }
    #expect(refusal(home) == nil)
    // Root is trusted by everybody, and a user by root who looks on behalf of that user.
    #expect(chown(home, 4711, 0) == 0)
    #expect(throws: Never.self) { try HomeDirectory.requirePrivate(home, for: 4711) }
  }

  @Test("it may be reached through links")
  func links() throws {
    let home = try make("disk/home")
    let link = scratch.path("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch.path("disk"))
    #expect(HomeDirectory.resolved(link + "/home") == home)
    #expect(HomeDirectory.resolved(link + "/home/") == home)
    #expect(HomeDirectory.resolved(link + "/new/deep") == scratch.path("disk/new/deep"))
    #expect(refusal(link + "/home") == nil)
    // What counts is where they lead.
    _ = try make("disk", 0o777)
    #expect(refusal(link + "/home") != nil)
  }

  @Test("no file in it is one", arguments: ["file", "nothing"])
  func files(target: String) throws {
    let home = try make("home")
    let (path, target) = (home + "/name", scratch.path(target))
    if target.hasSuffix("file") { try Data("precious".utf8).write(to: URL(fileURLWithPath: target)) }
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    #expect(throws: SystemError.self) { try FileLock.withLock(path) {} }
    #expect(throws: SystemError.self) { try PrivateFile.create(path, [1]) }
    let error = #expect(throws: SystemError.self) { try PrivateFile.read(path) }
    #expect(error?.reason.contains("symbolic link") == true)
    #expect(PrivateFile.exists(path))
    #expect(FileManager.default.contents(atPath: target) == (target.hasSuffix("file") ? Data("precious".utf8) : nil))
    // It is replaced, and not what it leads to.
    try PrivateFile.replace(path, [2])
    #expect(try PrivateFile.read(path).bytes == [2])
    #expect(FileManager.default.contents(atPath: target) == (target.hasSuffix("file") ? Data("precious".utf8) : nil))
  }

  @Test("neither is the directory that a file is in")
  func directories() throws {
    let home = try make("home")
    let other = try make("other")
    try PrivateFile.create(other + "/key.pem", [1])
    try FileManager.default.createSymbolicLink(atPath: home + "/identity", withDestinationPath: other)
    let error = #expect(throws: SystemError.self) { try PrivateFile.read(home + "/identity/key.pem") }
    #expect(error?.code == ELOOP)
    #expect(throws: SystemError.self) { try PrivateFile.create(home + "/identity/id", [1]) }
    PrivateFile.discard(home + "/identity", ["key.pem"])
    #expect(try PrivateFile.read(other + "/key.pem").bytes == [1])
    #expect(!PrivateFile.exists(home + "/identity"))
  }

  private func distrust(_ path: String) -> String? {
    do throws(SystemError) {
      try HomeDirectory.requireTrusted(file: path)
      return nil
    } catch {
      return error.reason
    }
  }

  private func file(_ name: String, _ mode: Int) throws -> String {
    let path = scratch.path(name)
    try Data("x".utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  @Test("a file that says what is done is nobody else's to write", arguments: [0o666, 0o602, 0o606])
  func untrusted(mode: Int) throws {
    let path = try file("settings", mode)
    #expect(distrust(path)?.contains("run: chmod go-w \(path)") == true)
  }

  @Test("others may read it", arguments: [0o600, 0o644, 0o400])
  func trusted(mode: Int) throws { #expect(distrust(try file("settings", mode)) == nil) }

  @Test("of a link, what it leads to and where it is must be trusted")
  func linkedFile() throws {
    let target = try file("target", 0o600)
    _ = try make("shared", 0o1777)
    let link = scratch.path("link")
    #expect(symlink(target, link) == 0)
    #expect(distrust(link) == nil)
    _ = try file("target", 0o666)
    #expect(distrust(link)?.contains(target) == true)
    // In a folder like /tmp others cannot take one's own file away.
    let shared = try file("shared/settings", 0o600)
    #expect(distrust(shared) == nil)
    _ = try make("shared", 0o777)
    #expect(distrust(shared)?.contains("chmod go-w") == true)
  }

  @Test("what another user owns is not trusted", .enabled(if: geteuid() == 0))
  func foreign() throws {
    let path = try file("settings", 0o600)
    #expect(chown(path, 4711, 4711) == 0)
    #expect(distrust(path)?.contains("another user (4711)") == true)
    #expect(throws: Never.self) { try HomeDirectory.requireTrusted(file: path, for: 4711) }
  }

  @Test("a held file is read whatever is put in its place, and a link is none")
  func held() throws {
    let path = try file("in", 0o600)
    let held = try PinnedFile(path)
    #expect(rename(path, path + ".gone") == 0)
    #expect(symlink("/etc/hostname", path) == 0)
    #expect(try String(contentsOfFile: held.path, encoding: .utf8) == "x")
    #expect(throws: SystemError.self) { try PinnedFile(path) }
    #expect(throws: SystemError.self) { try PinnedFile(scratch.path) }
  }
}
