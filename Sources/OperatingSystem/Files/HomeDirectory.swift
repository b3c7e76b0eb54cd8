import CLinux
import Glibc
import Synchronization

/// The directory that holds all data of one user's hpeer.
public enum HomeDirectory {
  /// Returns `path` without symbolic links, even if its last components do not exist yet: links may lead to a home,
  /// but are not allowed inside.
  public static func resolved(_ path: String) -> String {
    if let real = realpath(path, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let slash = trimmed.lastIndex(of: "/"), slash > trimmed.startIndex, !PrivateFile.isLink(trimmed) else {
      return trimmed
    }
    return resolved(String(trimmed[..<slash])) + trimmed[slash...]
  }

  /// Throws if a user other than this one and root could replace the contents of the directory.
  ///
  /// The rules are those of `StrictModes` in sshd_config(5): no other user may own or write to the directory or any
  /// of its ancestors. An ancestor may be writable if its sticky bit keeps others from renaming what is not theirs,
  /// as in `/tmp`. As in Debian's sshd, a private group may write to an ancestor, unless that has an access control
  /// list (acl(5)).
  ///
  /// - Parameter user: the user of the directory.
  public static func requirePrivate(_ path: String, for user: uid_t = geteuid()) throws(SystemError) {
    let home = resolved(path)
    try requireWay(to: home, isHome: true, for: user)
  }

  /// Throws if a user other than this one and root could write to or replace a settings file. The file itself may be
  /// a link, as for people who keep all their settings in one place; the rules then apply to its target and to both
  /// locations.
  ///
  /// - Parameters:
  ///   - path: the path of an existing file.
  ///   - user: the user of the file.
  public static func requireTrusted(file path: String, for user: uid_t = geteuid()) throws(SystemError) {
    let file = resolved(path)
    var status = stat()
    guard lstat(file, &status) == 0 else { throw SystemError("stat", file) }
    if let danger = danger(file, status, of: user, isHome: false, isSticky: false) {
      throw SystemError("open", path, code: EPERM, remedy: danger.sentence(ofFile: file))
    }
    for place in Set([file, resolved(parent(of: path)) + "/"].map(parent)) {
      try requireWay(to: place, isHome: false, for: user)
    }
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Checks a directory and its ancestors.
  /// - Parameter isHome: whether the last directory must not be writable by others even if its sticky bit is set.
  private static func requireWay(to home: String, isHome: Bool, for user: uid_t) throws(SystemError) {
    var directory = home
    while true {
      var status = stat()
      guard lstat(directory, &status) == 0 else { throw SystemError("stat", directory) }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError("open", directory, code: ENOTDIR) }
      if let danger = danger(directory, status, of: user, isHome: isHome && directory == home) {
        throw SystemError("open", directory, code: EPERM, remedy: danger.sentence(directory, home))
      }
      if directory == "/" { return }
      directory = parent(of: directory)
    }
  }

  private enum Danger {
    case owner(uid_t)
    case mode

    func sentence(ofFile file: String) -> String {
      switch self {
      case .owner(let user):
        "\(file) belongs to another user (\(user)), who could have anything done here: make it yours, or take it away"
      case .mode:
        "others may write to \(file), and so have anything done here: run: chmod go-w \(ShellWord.quoted(file))"
      }
    }

    func sentence(_ directory: String, _ home: String) -> String {
      let rest = directory == home ? "" : ", which leads to \(home)"
      let choose = "choose another directory with --home"
      return switch self {
      case .owner(let user):
        "\(directory)\(rest) belongs to another user (\(user)), who could exchange what is there: \(choose)"
      case .mode:
        "others may write to \(directory)\(rest), and so exchange what is there: run: chmod go-w \(ShellWord.quoted(directory)), or \(choose)"
      }
    }
  }

  private static func danger(
    _ directory: String, _ status: stat, of user: uid_t, isHome: Bool, isSticky: Bool = true
  ) -> Danger? {
    guard status.st_uid == 0 || status.st_uid == user || (!isHome && isUnknownHere(status.st_uid)) else {
      return .owner(status.st_uid)
    }
    let bits = status.st_mode & 0o022
    if bits == 0 { return nil }
    if isHome { return .mode }
    if isSticky, status.st_mode & 0o1000 != 0 { return nil }
    guard bits == 0o020, isAlone(status.st_uid, in: status.st_gid) else { return .mode }
    return linux_has_access_control_list(directory) == 0 ? nil : .mode
  }

  /// Returns whether the owner is unknown in this user namespace: owners outside of it all appear as one number
  /// (user_namespaces(7)).
  private static func isUnknownHere(_ owner: uid_t) -> Bool {
    owner == 65_534 && !isInitialNamespace
  }

  private static let isInitialNamespace: Bool = {
    guard let file = fopen("/proc/self/uid_map", "re") else { return true }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return true }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return text.split { $0 == " " || $0 == "\n" } == ["0", "0", "4294967295"]
  }()

  /// A lock for the user and group databases, which have one read position per process.
  private static let databases = Mutex(())

  private static func isAlone(_ user: uid_t, in group: gid_t) -> Bool {
    databases.withLock { _ in
      guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return false }
      let owner = String(cString: name)
      var members = 0
      setpwent()
      defer { endpwent() }
      while let other = getpwent() {
        guard other.pointee.pw_gid == group else { continue }
        if other.pointee.pw_uid != user { return false }
        members += 1
      }
      var names = getgrgid(group)?.pointee.gr_mem
      while let next = names, let member = next.pointee {
        if String(cString: member) != owner { return false }
        members += 1
        names = next + 1
      }
      return members > 0
    }
  }
}
