import Foundation

extension FilesDestination {
  /// Creates a destination without settings.
  init(folder: URL) { self.folder = folder }
}
