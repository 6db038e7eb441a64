# SPDX-License-Identifier: MIT
# cmake -DTOOL=PROGRAM -DNAME=sb-x -DSHARE=FOLDER -P SbShare.cmake: lays down what a tool prints of itself.
# The manual page is written last: it stands for all of them in the build.
function(write_what_it_prints file)
  execute_process(COMMAND "${TOOL}" ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status STREQUAL "0" OR text STREQUAL "")
    message(FATAL_ERROR "${NAME} ${ARGN}: status ${status}, ${file} not written")
  endif()
  file(WRITE "${SHARE}/${file}" "${text}")
endfunction()

write_what_it_prints(bash-completion/completions/${NAME} --completion bash)
write_what_it_prints(zsh/site-functions/_${NAME} --completion zsh)
write_what_it_prints(fish/vendor_completions.d/${NAME}.fish --completion fish)
write_what_it_prints(sb/schemas/${NAME}.json --schema)
write_what_it_prints(man/man1/${NAME}.1 --man)
