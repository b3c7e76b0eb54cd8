import Destinations
import Foundation

/// The harness of the destination `command`, with a shell script that keeps an empty file for each sample.
struct CommandHarness: DestinationHarness {
  typealias Place = CommandDestination

  static func start() -> Self { Self() }

  private static let script = """
    #!/bin/sh
    if [ "$HPEER_STARTS_OVER" = 1 ]; then rm -f "$KEEP"/*; fi
    while read -r line; do
      printf '%s\n' "$line" >> "$KEEP/.seen"
      id=${line#*'"uuid":"'}
      id=${id%%'"'*}
      case $line in '{"deleted"'*) rm -f "$KEEP/$id" ;; *) : > "$KEEP/$id" ;; esac
    done
    """

  func settings(_ place: HarnessPlace) throws -> [String: DestinationSettings.Value] {
    let path = "\(place.folder)/.keep"
    if !FileManager.default.fileExists(atPath: path) {
      try Data(Self.script.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    }
    return ["command": .list([path]), "environment": .table(["KEEP": place.folder]), "batch": .integer(20)]
  }

  func contents(of place: HarnessPlace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.folder).filter { !$0.hasPrefix(".") }
  }
}
