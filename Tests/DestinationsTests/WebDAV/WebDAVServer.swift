import Foundation
import Glibc
import TestSupport

@testable import Destinations

/// A third-party WebDAV server for a folder. If it has users, the user is ada with the password s3cret.
struct WebDAVServer {
  enum Kind: String, CaseIterable {
    case wsgidav, apache, rclone

    private static let environment = PythonEnvironment("s3")
    static let python = environment.program("python")

    var isHere: Bool {
      switch self {
      case .wsgidav: Self.python != nil
      case .apache: FileManager.default.isExecutableFile(atPath: "/usr/sbin/apache2")
      case .rclone: FileManager.default.isExecutableFile(atPath: "/usr/bin/rclone")
      }
    }
  }

  /// The reason that a test gives when it is skipped.
  static let missing = "not all WebDAV servers are installed (scripts/setup --tests)"
  static let isHere = Kind.allCases.allSatisfy(\.isHere)

  private let folder: TemporaryDirectory
  private let process: ServerProcess

  /// The folder of the server's files.
  var files: String { folder.path("dav") }
  var port: Int { process.port }
  var url: String { "http://127.0.0.1:\(process.port)/" }

  init(_ kind: Kind) throws {
    folder = try TemporaryDirectory()
    let files = folder.path("dav")
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: false)
    // Apache leaves the rights of root behind.
    chmod(folder.path("."), 0o755)
    chmod(files, 0o777)
    switch kind {
    case .wsgidav:
      let script = """
        from wsgidav.wsgidav_app import WsgiDAVApp
        from cheroot import wsgi
        app = WsgiDAVApp({"provider_mapping": {"/": "\(files)"}, "logging": {"enable": False},
          "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
          "simple_dc": {"user_mapping": {"*": {"ada": {"password": "s3cret"}}}}})
        server = wsgi.Server(("127.0.0.1", 0), app)
        server.prepare()
        print("listening on 127.0.0.1:%d ." % server.bind_addr[1], flush=True)
        server.serve()
        """
      process = try ServerProcess(Kind.python ?? "", ["-c", script], until: "listening on 127.0.0.1:")
    case .rclone:
      process = try ServerProcess(
        "/usr/bin/rclone", ["serve", "webdav", files, "--addr", "127.0.0.1:0", "--config", "/dev/null"],
        until: "http://127.0.0.1:")
    case .apache:
      let port = try TCPSocket.freePort()
      let modules = ["mpm_prefork", "authz_core", "dav", "dav_fs"].map {
        "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so\n"
      }
      try """
      \(modules.joined())
      ServerName localhost
      Listen 127.0.0.1:\(port)
      User www-data
      Group www-data
      PidFile \(folder.path("pid"))
      DefaultRuntimeDir \(folder.path("."))
      StartServers 4
      MaxRequestWorkers 16
      ErrorLog \(folder.path("log"))
      DavLockDB \(files)/.lock
      DocumentRoot \(files)
      <Directory \(files)>
        Dav On
        Require all granted
      </Directory>

      """.write(toFile: folder.path("dav.conf"), atomically: true, encoding: .utf8)
      // Processes, since threads of one do not keep each other out of the file of its locks.
      // It does not say that it listens: it is asked until it answers.
      process = try ServerProcess(
        "/bin/bash",
        [
          "-c",
          "(until (exec 3<>/dev/tcp/127.0.0.1/\(port)) 2>/dev/null; do :; done; echo 'listening on 127.0.0.1:\(port) .') & "
            + "exec /usr/sbin/apache2 -D FOREGROUND -f \(folder.path("dav.conf"))",
        ], until: "listening on 127.0.0.1:", endedBy: SIGTERM)
    }
  }

  /// Returns the records of all files, in their order in the files.
  func records(in folder: String = "") throws -> [(uuid: String, isDeleted: Bool)] {
    struct Record: Decodable {
      var uuid: String
      var deleted: Bool
    }
    var records: [Record] = []
    let folder = "\(files)/\(folder)"
    for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init()
    where name.hasSuffix("data.jsonl") {
      for line in try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8).split(separator: "\n") {
        records.append(try JSONDecoder().decode(Record.self, from: Data(line.utf8)))
      }
    }
    return records.map { ($0.uuid, $0.deleted) }
  }
}
