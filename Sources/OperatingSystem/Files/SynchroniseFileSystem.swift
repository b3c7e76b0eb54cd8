import CLinux
import Glibc

/// Syncs the file system of a folder to disk (syncfs(2)), which is faster than syncing many files individually.
/// Blocks.
///
/// - Returns: 0, or the `errno` value of the failure.
public func synchroniseFileSystem(of folder: String) -> Int32 {
  let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { return errno }
  defer { close(descriptor) }
  return linux_synchronise_file_system(descriptor) == 0 ? 0 : errno
}
